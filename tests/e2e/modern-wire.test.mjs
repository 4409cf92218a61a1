// 2026-07-28 at the level of bytes: upstreams that do not do what they declare, header fields and codes, cancellation.
import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, test } from "node:test";
import { connectClient } from "./support/client.mjs";
import { borrow } from "./support/fixture.mjs";
import { startFreshet } from "./support/freshet.mjs";
import { BOUND_MS, INTERVAL_MS, JITTER } from "./support/lag.mjs";
import {
  ask, connectModern, isAcknowledged, modernRequest, openListen, subscriptionOf, watching,
} from "./support/modern-client.mjs";
import { isListen, ModernServer } from "./support/modern-server.mjs";
import {
  acknowledgement, failed, frame, notice, result, startRawModern, STREAM_HEAD,
} from "./support/raw-modern.mjs";
import { reply, startRawUpstream } from "./support/raw-upstream.mjs";
import { SdkServer } from "./support/sdk-server.mjs";
import { send } from "./support/session.mjs";
import { until, within } from "./support/until.mjs";

const A = "note://a";
const B = "note://b";

async function setup(t, options, upstream = {}) {
  const own = borrow(t);
  const server = await own(startRawModern({ texts: { [A]: "one", [B]: "uno" }, ...options }));
  const freshet = await own(startFreshet({ config: { upstreams: [{ name: "raw", url: server.url, ...upstream }] } }));
  const listen = (filter, asked) => own(openListen(freshet.url(), filter, asked), (stream) => stream.close());
  return { own, server, freshet, listen };
}

const acknowledged = async (stream) =>
  (await stream.events.find(isAcknowledged, { ms: 15_000 })).message.params.notifications;

describe("an upstream that declares subscriptions", { concurrency: 4 }, () => {
  const misbehaviours = {
    "never ends a JSON answer to listen": () =>
      'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n',
    "does not know listen": ({ id }) => failed("404 Not Found", id, -32601, "Method not found"),
    "refuses listen in an ordinary answer": ({ id }) => failed("200 OK", id, -32603, "Subscription limit reached"),
    "ends the stream before it acknowledges": (_, socket) => {
      socket.end(STREAM_HEAD);
    },
    "acknowledges nothing of what was asked": ({ id }) => STREAM_HEAD + acknowledgement(id, {}),
    "completes the stream at once": ({ id }) =>
      STREAM_HEAD + acknowledgement(id, {}) + frame({ id, result: { resultType: "complete" } }),
  };
  for (const [name, answer] of Object.entries(misbehaviours)) {
    test(`and ${name} is polled, and its subscriber is told`, async (t) => {
      const { server, listen } = await setup(t, { answers: { "subscriptions/listen": answer } });
      const stream = await listen(watching(A));
      assert.deepEqual(await acknowledged(stream), watching(A));
      server.texts[A] = "two";
      await stream.updated(A, { ms: 15_000 });
    });
  }

  const silences = {
    "never answers listen": () => undefined,
    "opens the stream and never acknowledges": () => STREAM_HEAD,
  };
  for (const [name, answer] of Object.entries(silences)) {
    test(`and ${name} is polled, after a bounded wait`, async (t) => {
      const answers = { "subscriptions/listen": answer };
      const { server, listen } = await setup(t, { answers }, { reads: { timeout: "2s" } });
      const stream = await listen({ ...watching(A), toolsListChanged: true });
      assert.deepEqual(await acknowledged(stream), watching(A));
      server.texts[A] = "two";
      await stream.updated(A, { ms: 15_000 });
    });
  }

  test("and goes silent is watched: the change is told all the same", async (t) => {
    const listening = ({ id, params }) => STREAM_HEAD + acknowledgement(id, params.notifications);
    const freshness = { watchdog_silence: "1s", watchdog_grace: "300ms" };
    const { server, listen } = await setup(t, { answers: { "subscriptions/listen": listening } }, { freshness });
    const stream = await listen(watching(A));
    await acknowledged(stream);
    server.texts[A] = "two";
    await stream.updated(A, { ms: 10_000 });
  });

  test("and ends the stream, with or without a result, is listened to again", async (t) => {
    const sockets = [];
    const listening = ({ id, params }, socket) => {
      sockets.push({ id, socket });
      return STREAM_HEAD + acknowledgement(id, params.notifications);
    };
    const { server, listen } = await setup(t, { answers: { "subscriptions/listen": listening } });
    const stream = await listen(watching(A), { id: 7 });
    await acknowledged(stream);
    const endings = [
      ({ socket }) => socket.destroy(),
      ({ socket, id }) => socket.end(frame({ id, result: { resultType: "complete" } })),
      ({ socket, id }) => socket.end(frame({ method: "notifications/cancelled", params: { requestId: id } })),
    ];
    for (const [index, end] of endings.entries()) {
      const from = stream.events.length;
      server.texts[A] = `changed ${index}`;
      end(sockets[index]);
      await stream.updated(A, { from, ms: 15_000 });
      await until(() => sockets.length === index + 2, 15_000, "the stream to be opened again");
    }
    sockets.at(-1).socket.write(notice(7, "notifications/resources/updated", { uri: A }));
    await stream.updated(A, { from: stream.events.length, ms: 5000 });
    const methods = new Set(stream.events.entries.map(({ message }) => message?.method).filter(Boolean));
    assert.deepEqual([...methods], ["notifications/subscriptions/acknowledged", "notifications/resources/updated"]);
  });

  test("and acknowledges a part is polled for the rest", async (t) => {
    const listening = ({ id }) => STREAM_HEAD + acknowledgement(id, watching(A));
    const { server, listen } = await setup(t, { answers: { "subscriptions/listen": listening } });
    const stream = await listen(watching(A, B));
    assert.deepEqual(await acknowledged(stream), watching(A, B));
    server.texts[B] = "due";
    await stream.updated(B, { ms: 10_000 });
  });
});

/** Sends a request that can be left: `leave` closes it, `left` says how it ended. */
function leavable(url, ...of) {
  const leaving = new AbortController();
  const { headers, body } = modernRequest(...of);
  const basic = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
  const left = fetch(url, {
    method: "POST", headers: { ...basic, ...headers }, body: JSON.stringify(body), signal: leaving.signal,
  });
  return { left, leave: () => leaving.abort() };
}

describe("an upstream that declares none", { concurrency: 4 }, () => {
  test("has its list polled where the operator lets it, and the change is told with the subscription id", async (t) => {
    const uris = [A];
    const answers = {
      "resources/list": ({ id }) => result(id, { resources: uris.map((uri) => ({ uri, name: uri })) }),
    };
    const lists = { poll: true, interval: "1s" };
    const { server, freshet, listen } = await setup(t, { resources: {}, answers }, { lists });
    const { resources } = (await ask(freshet.url(), "server/discover")).message.result.capabilities;
    assert.deepEqual(resources, { subscribe: true, listChanged: true });
    const stream = await listen({ resourcesListChanged: true }, { id: "list" });
    assert.deepEqual(await acknowledged(stream), { resourcesListChanged: true });
    const other = await listen(watching(A));
    await acknowledged(other);
    await server.requests.times(3, ({ message }) => message.method === "resources/list");  // it knows the list by then
    uris.push(B);
    const isListChanged = ({ message }) => message?.method === "notifications/resources/list_changed";
    assert.equal(subscriptionOf(await stream.events.find(isListChanged, { ms: 10_000 })), "list");
    server.texts[A] = "two";
    await other.updated(A, { ms: BOUND_MS });
    assert.equal(other.events.count(isListChanged), 0);
  });

  test("and no list polling honours no list changes", async (t) => {
    const { listen } = await setup(t, { resources: {} });
    const stream = await listen({ resourcesListChanged: true, toolsListChanged: true });
    assert.deepEqual(await acknowledged(stream), {});
    await within(stream.ended, 5000, "the stream's end");
  });

  test("and is of the legacy era answers a listen itself", async (t) => {
    const own = borrow(t);
    const server = await own(SdkServer.start({ contents: { [A]: "one" } }));
    const freshet = await own(startFreshet({ upstream: server.url }));
    const asked = ["subscriptions/listen", { notifications: watching(A) }];
    const direct = await ask(server.url, ...asked);
    const through = await ask(freshet.url(), ...asked);
    assert.deepEqual([through.status, through.text], [direct.status, direct.text]);
  });

  test("and marks what it says as public is polled once for everybody", async (t) => {
    let text = "one";
    const answers = {
      "resources/read": ({ id, params: { uri } }) =>
        result(id, { contents: [{ uri, text }], ttlMs: 0, cacheScope: "public" }),
    };
    const { server, listen } = await setup(t, { resources: {}, answers });
    const as = (name) => listen(watching(A), { headers: { Authorization: `Bearer ${name}` } });
    const streams = [await as("ada"), await as("bob")];
    await Promise.all(streams.map(acknowledged));
    const isPoll = ({ message }) => message.method === "resources/read";
    const polls = await server.requests.times(6, isPoll, { from: server.requests.length });
    const perPoll = (polls[5].at - polls[0].at) / 5;
    assert.ok(perPoll > INTERVAL_MS * (1 - JITTER) * 0.9, `a poll each ${perPoll} ms`);
    text = "two";
    await Promise.all(streams.map((stream) => stream.updated(A, { ms: BOUND_MS })));
  });
});

describe("a read", { concurrency: 4 }, () => {
  test("that needs input or a capability keeps its URI from being acknowledged", async (t) => {
    const needs = {
      [A]: ({ id }) => result(id, { resultType: "input_required", requestState: "s" }),
      [B]: ({ id }) => failed("400 Bad Request", id, -32021, "Missing", { requiredCapabilities: { elicitation: {} } }),
    };
    const answers = { "resources/read": (message) => needs[message.params.uri](message) };
    const { listen } = await setup(t, { resources: {}, answers });
    const stream = await listen(watching(A, B));
    assert.deepEqual(await acknowledged(stream), {});
    await within(stream.ended, 5000, "the stream's end");
  });

  test("with input in it is the client's alone", async (t) => {
    const { server, freshet, listen } = await setup(t, { resources: {} });
    const stream = await listen(watching(A));
    await acknowledged(stream);
    server.texts[A] = "two";
    await stream.updated(A, { ms: BOUND_MS });
    const reads = server.count("resources/read", A);
    await ask(freshet.url(), "resources/read", { uri: A, requestState: "s", inputResponses: {} });
    assert.equal(server.count("resources/read", A), reads + 1);
  });

  test("that the upstream refuses with a bare 404 ends no stream", async (t) => {
    let gone = false;
    const answers = {
      "resources/read": ({ id, params: { uri } }) =>
        gone ? reply("404 Not Found", "", { "Content-Type": "text/plain" })
          : result(id, { contents: [{ uri, text: String(server.texts[uri]) }], ttlMs: 0, cacheScope: "private" }),
    };
    const world = await setup(t, { resources: {}, answers });
    const { server, freshet, listen } = world;
    const stream = await listen(watching(A));
    await acknowledged(stream);
    gone = true;
    assert.equal((await ask(freshet.url(), "resources/read", { uri: A, cursor: "x" })).status, 404);
    gone = false;
    server.texts[A] = "two";
    await stream.updated(A, { ms: 20_000 });
  });

  test("whose client leaves is given up upstream, and leaves the others theirs", async (t) => {
    const read = ({ id, params: { uri } }) =>
      result(id, { contents: [{ uri, text: "one" }], ttlMs: 0, cacheScope: "private" });
    const answers = { "resources/read": (message) => (message.id === "leaves" ? undefined : read(message)) };
    const { server, freshet, listen } = await setup(t, { resources: {}, answers }, { freshness: { interval: "1h" } });
    await acknowledged(await listen(watching(A)));
    const { left, leave } = leavable(freshet.url(), "resources/read", { uri: A }, { id: "leaves" });
    await server.requests.find(({ message }) => message?.id === "leaves");
    const other = ask(freshet.url(), "resources/read", { uri: A }, { id: "stays" });
    leave();
    await assert.rejects(left);
    assert.equal((await other).message.result.contents[0].text, "one");
  });
});

describe("header fields and codes", { concurrency: 4 }, () => {
  test("that contradict the body of what Freshet acts on are refused with 400 and -32020", async (t) => {
    const { server, freshet } = await setup(t);
    const wrong = [
      ["resources/read", { uri: A }, { "Mcp-Name": B }],
      ["resources/read", { uri: A }, { "Mcp-Name": undefined }],
      ["resources/read", { uri: A }, { "Mcp-Method": "tools/call" }],
      ["subscriptions/listen", { notifications: watching(A) }, { "Mcp-Method": "resources/read" }],
      ["subscriptions/listen", { notifications: watching(A) }, { "MCP-Protocol-Version": "2027-01-01" }],
    ];
    for (const [method, params, headers] of wrong) {
      const { status, message } = await ask(freshet.url(), method, params, { id: "x", headers });
      assert.deepEqual([status, message.error.code, message.id], [400, -32020, "x"]);
    }
    assert.equal(server.requests.length, 0);
  });

  test("in base64 are compared decoded, and reads of Freshet's own bear them", async (t) => {
    const uri = "file:///Załączniki/r.pdf";
    const encoded = `=?base64?${Buffer.from(uri).toString("base64")}?=`;
    const { server, freshet, listen } = await setup(t, { resources: {}, texts: { [uri]: "one" } });
    const read = await ask(freshet.url(), "resources/read", { uri }, { headers: { "Mcp-Name": encoded } });
    assert.equal(read.message.result.contents[0].text, "one");
    assert.deepEqual(await acknowledged(await listen(watching(uri))), watching(uri));
    const reads = server.requests.entries.filter(({ message }) => message.method === "resources/read");
    assert.deepEqual([...new Set(reads.map(({ headers }) => headers["mcp-name"]))], [encoded]);
    const other = `=?base64?${Buffer.from(B).toString("base64")}?=`;
    assert.equal((await ask(freshet.url(), "resources/read", { uri }, { headers: { "Mcp-Name": other } })).status, 400);
  });

  test("of other requests pass, with the upstream's codes and bytes", async (t) => {
    const said = [
      ["400 Bad Request", -32020, "Header mismatch"],
      ["400 Bad Request", -32021, "Missing required client capability", { requiredCapabilities: { sampling: {} } }],
      ["400 Bad Request", -32022, "Unsupported version", { supported: ["2026-07-28"], requested: "1900-01-01" }],
      ["404 Not Found", -32601, "Method not found"],
    ];
    let next;
    const answers = { "tools/call": ({ id }) => failed(next[0], id, ...next.slice(1)) };
    const { server, freshet } = await setup(t, { answers });
    for (next of said) {
      const headers = { "Mcp-Name": "other", "Mcp-Param-Region": "eu", "X-Unknown": "1" };
      const asked = [{ name: "t", arguments: {} }, { headers }];
      const through = await ask(freshet.url(), "tools/call", ...asked);
      const direct = await ask(server.url, "tools/call", ...asked);
      assert.equal(through.status, direct.status);
      assert.ok(through.bytes.equals(direct.bytes));
      const [seen] = server.requests.entries.slice(-2);
      const fields = ["mcp-param-region", "x-unknown", "mcp-name"].map((name) => seen.headers[name]);
      assert.deepEqual(fields, ["eu", "1", "other"]);
    }
  });

  test("of a discover are whatever the upstream says, and the client falls back as without Freshet", async (t) => {
    const refusals = {
      "-32602 in an answer": ({ id }) => failed("200 OK", id, -32602, "Invalid request parameters"),
      "-32601 in an answer": ({ id }) => failed("200 OK", id, -32601, "Method not found"),
      "-32000 with 400": ({ id }) => failed("400 Bad Request", id, -32000, "Bad Request: Server not initialized"),
      "400 in HTML": () => reply("400 Bad Request", "<html>", { "Content-Type": "text/html" }),
      "400 without a body": () => reply("400 Bad Request"),
      "404 without a body": () => reply("404 Not Found"),
      "405": () => reply("405 Method Not Allowed"),
      "401": () => reply("401 Unauthorized"),
      "-32022 with 400": ({ id }) =>
        failed("400 Bad Request", id, -32022, "Unsupported", { supported: ["2025-11-25"], requested: "2026-07-28" }),
    };
    const serverInfo = { name: "old", version: "1" };
    const initialized = { protocolVersion: "2025-11-25", capabilities: { resources: {} }, serverInfo };
    for (const [name, refuse] of Object.entries(refusals)) {
      const own = borrow(t);
      const upstream = await own(startRawUpstream(({ method, message }) => {
        if (method !== "POST") return reply("405 Method Not Allowed");
        if (message.method === "server/discover") return refuse(message);
        if (message.method !== "initialize") return reply("202 Accepted");
        const answer = JSON.stringify({ jsonrpc: "2.0", id: message.id, result: initialized });
        return reply("200 OK", answer, { "Mcp-Session-Id": "s" });
      }));
      const freshet = await own(startFreshet({ upstream: upstream.url }));
      const direct = await ask(upstream.url, "server/discover");
      const through = await ask(freshet.url(), "server/discover");
      assert.equal(through.status, direct.status, name);
      assert.equal(through.text, direct.text, name);
      const era = (url) => connectModern(url, { mode: "auto" }).then(
        (client) => client.client.getNegotiatedProtocolVersion(), ({ code, message }) => `${code} ${message}`);
      assert.equal(await era(freshet.url()), await era(upstream.url), name);
    }
  });
});

describe("cancellation", { concurrency: 4 }, () => {
  test("the closing of a modern response stream reaches the upstream at once", async (t) => {
    const own = borrow(t);
    const server = await own(ModernServer.start({ contents: { [A]: "one" } }));
    const freshet = await own(startFreshet({ upstream: server.url }));
    const call = modernRequest("tools/call", { name: "hang", arguments: {} });
    const { request, response } = await send(freshet.url(), call);
    await once(response, "data");
    const closed = performance.now();
    request.destroy();
    const { at } = await server.requests.find(({ method }) => method === "aborted", { ms: 5000 });
    assert.ok(at - closed < 1000, `after ${at - closed} ms`);
    await until(() => server.open(({ method }) => method === "tools/call").length === 0, 5000, "the call to end");
  });

  test("so does a client that leaves before the answer begins, and it is no failure of the upstream", async (t) => {
    const { server, freshet } = await setup(t, { answers: { "tools/call": () => undefined } });
    const calls = Array.from({ length: 20 }, async (_, id) => {
      const { left, leave } = leavable(freshet.url(), "tools/call", { name: "t", arguments: {} }, { id });
      await server.requests.find(({ message }) => message?.id === id);
      leave();
      await assert.rejects(left);
    });
    await Promise.all(calls);
    await until(() => server.sockets.size === 0, 5000, "the upstream's connections to close");
    assert.equal(freshet.log.count((line) => /upstream_unavailable/.test(line)), 0);
    assert.equal((await freshet.status()).upstreams[0].health.state, "unknown");
  });

  test("three hundred closed streams leave nothing open and block nothing", async (t) => {
    const own = borrow(t);
    const server = await own(ModernServer.start({ contents: { [A]: "one" }, subscribe: true }));
    const freshet = await own(startFreshet({ upstream: server.url }));
    for (let round = 0; round < 10; ++round) {
      const opening = Array.from({ length: 30 }, (_, id) => openListen(freshet.url(), watching(A), { id }));
      const streams = await Promise.all(opening);
      for (const stream of streams) stream.close();
    }
    await server.requests.when(() => server.open(isListen).length === 0, 15_000, "the upstream's streams to end");
    assert.equal((await ask(freshet.url(), "resources/read", { uri: A })).message.result.contents[0].text, "one");
    await freshet.metricReaches("freshet_sessions", (value) => value === 0);
  });

  test("a legacy client that leaves cancels nothing", async (t) => {
    const own = borrow(t);
    const server = await own(SdkServer.start({ contents: { [A]: "one" } }));
    const freshet = await own(startFreshet({ upstream: server.url }));
    const client = await own(connectClient(freshet.url()), (open) => open.close());
    const headers = { "Mcp-Session-Id": client.transport.sessionId, "MCP-Protocol-Version": "2025-11-25" };
    const call = { jsonrpc: "2.0", id: 77, method: "tools/call", params: { name: "hang", arguments: {} } };
    const { request } = await send(freshet.url(), { headers, body: call });
    request.destroy();
    assert.equal(await client.text(A), "one");
    server.release();
    assert.equal(await client.text(A), "one");
    assert.equal(server.requests.count(({ method }) => ["aborted", "notifications/cancelled"].includes(method)), 0);
  });
});
