// What is not intercepted passes: the same bytes, the same statuses and headers, direct and through.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { connectClient } from "./support/client.mjs";
import { borrow } from "./support/fixture.mjs";
import { startFreshet } from "./support/freshet.mjs";
import { reply, startRawUpstream, STREAM_HEAD } from "./support/raw-upstream.mjs";
import { SdkServer } from "./support/sdk-server.mjs";
import { exchange, PROTOCOL, Session } from "./support/session.mjs";
import { within } from "./support/until.mjs";

// RFC 9110 §7.6.1: what belongs to a hop, and what differs between two answers by nature.
const OF_THE_HOP = ["connection", "keep-alive", "transfer-encoding", "content-length", "date", "mcp-session-id",
  "x-accel-buffering"];

const endToEnd = ({ headers }) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_THE_HOP.includes(name)));

const initialize = (protocolVersion) => {
  const params = { protocolVersion, capabilities: { roots: {} }, clientInfo: { name: "probe", version: "1" } };
  return { jsonrpc: "2.0", id: "probe-1", method: "initialize", params };
};

const withoutSubscribe = (text) =>
  text.replace(/\s*"subscribe"\s*:\s*true\s*,/, "").replace(/,?\s*"subscribe"\s*:\s*true/, "");

describe("through Freshet", { concurrency: 4 }, () => {
  async function throughAndDirect(t, options) {
    const own = borrow(t);
    const server = await own(SdkServer.start({ contents: { "note://a": "one" }, ...options }));
    const freshet = await own(startFreshet({ upstream: server.url }));
    return { server, freshet, both: [server.url, freshet.url()] };
  }

  for (const version of ["2025-03-26", "2025-06-18", "2025-11-25"]) {
    for (const json of [false, true]) {
      test(`the ${version} initialize result in ${json ? "JSON" : "SSE"} gains subscribe and nothing else`, async (t) => {
        const { both } = await throughAndDirect(t, { json });
        const [direct, through] = await Promise.all(both.map((url) => exchange(url, { body: initialize(version) })));
        assert.match(through.text, /"resources":\{[^}]*"subscribe":true/);
        assert.equal(withoutSubscribe(through.text), direct.text);
        assert.equal(through.status, direct.status);
        assert.deepEqual(endToEnd(through), endToEnd(direct));
      });
    }
  }

  test("an initialize result keeps its spacing, number forms, unknown members and their order", async (t) => {
    const own = borrow(t);
    const result = (resources) =>
      `{ "result" : {"zeta":1.50e+2,\n "capabilities":{"x-vendor":{"n":1E2},"resources":{${resources}},"tools":{}},` +
      `"protocolVersion":"${PROTOCOL}","serverInfo":{"version":"1","name":"\\u0072aw"},"alpha":[ ]},"id":"probe-1","jsonrpc":"2.0"}`;
    const body = result(`"listChanged" : false`);
    const upstream = await own(startRawUpstream(() => reply("200 OK", body, { "X-Upstream": "yes" })));
    const freshet = await own(startFreshet({ upstream: upstream.url }));
    const through = await exchange(freshet.url(), { body: initialize(PROTOCOL) });
    assert.equal(JSON.parse(through.text).result.capabilities.resources.subscribe, true);
    assert.equal(withoutSubscribe(through.text), body);
    assert.equal(through.headers["x-upstream"], "yes");
  });

  test("a server without resources, and one that can subscribe itself, are shown as they are", async (t) => {
    const own = borrow(t);
    for (const capabilities of [`{"tools":{}}`, `{"resources":{"subscribe":true}}`, `{}`]) {
      const serverInfo = `{"name":"raw","version":"1"}`;
      const result = `{"protocolVersion":"${PROTOCOL}","capabilities":${capabilities},"serverInfo":${serverInfo}}`;
      const body = `{"jsonrpc":"2.0","id":"probe-1","result":${result}}`;
      const upstream = await own(startRawUpstream(() => reply("200 OK", body)));
      const freshet = await own(startFreshet({ upstream: upstream.url }));
      assert.equal((await exchange(freshet.url(), { body: initialize(PROTOCOL) })).text, body);
    }
  });

  test("an error to initialize passes as it is, with its status", async (t) => {
    const { both } = await throughAndDirect(t);
    const bodies = [`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, `{"jsonrpc":`, `[]`, `"x"`];
    for (const body of bodies) {
      const [direct, through] = await Promise.all(both.map((url) => exchange(url, { body })));
      assert.equal(through.status, direct.status, body);
      assert.equal(through.text, direct.text, body);
    }
  });

  test("all end-to-end headers cross, both ways, and cookies stay apart", async (t) => {
    const own = borrow(t);
    const answer = reply("202 Accepted", "", {}).replace("\r\n\r\n",
      "\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-Request-Id: 9\r\n\r\n");
    const upstream = await own(startRawUpstream(() => answer));
    const freshet = await own(startFreshet({ upstream: upstream.url }));
    const headers = { "X-Trace": "t-1", Cookie: "c=3", "MCP-Protocol-Version": PROTOCOL, TE: "trailers" };
    const body = { jsonrpc: "2.0", method: "notifications/vendor" };
    const through = await exchange(freshet.url(), { headers, body });
    assert.equal(through.status, 202);
    assert.deepEqual(through.headers["set-cookie"], ["a=1", "b=2"]);
    assert.equal(through.headers["x-request-id"], "9");
    const { headers: seen, body: arrived } = upstream.requests.entries[0];
    assert.equal(seen["x-trace"], "t-1");
    assert.equal(seen.cookie, "c=3");
    assert.equal(seen["mcp-protocol-version"], PROTOCOL);
    assert.equal(seen.te, undefined);
    assert.equal(arrived, JSON.stringify(body));
  });

  test("other paths of the upstream pass, query and all", async (t) => {
    const own = borrow(t);
    const upstream = await own(startRawUpstream(({ method, target }) => reply("200 OK", `${method} ${target}`)));
    const freshet = await own(startFreshet({ upstream: upstream.url }));
    const at = "/.well-known/oauth-protected-resource/mcp?x=%2F&y";
    assert.equal((await exchange(freshet.url(at), { method: "GET" })).text, `GET ${at}`);
    assert.equal((await exchange(freshet.url("/token?a=b"), { body: "{}" })).text, "POST /token?a=b");
  });

  test("a stream of events arrives piece by piece, each before the next is sent", async (t) => {
    const own = borrow(t);
    const events = [`id: u-41\r\nretry: 2000\r\ndata:\r\n\r\n`, `: note\n\n`,
      `event: vendor\ndata: not json \u00e9\n\n`, `data: {"jsonrpc":"2.0","id":3,"result":{}}\n\n`];
    let next;
    const upstream = await own(startRawUpstream((request, socket) => {
      next = () => (events.length > 0 ? socket.write(events.shift()) : socket.end());
      return STREAM_HEAD;
    }));
    const freshet = await own(startFreshet({ upstream: upstream.url }));
    const expected = events.join("");
    const body = { jsonrpc: "2.0", id: 3, method: "tools/call", params: { name: "x" } };
    const answer = fetch(freshet.url(), { method: "POST", body: JSON.stringify(body), headers: {
      "Content-Type": "application/json", Accept: "application/json, text/event-stream" } });
    const reader = (await within(answer, 5000, "the head before any event")).body.getReader();
    let arrived = Buffer.alloc(0);
    for (let sent = 0; arrived.length < Buffer.byteLength(expected); ) {
      const goal = sent + Buffer.byteLength(events[0]);
      next();
      while (arrived.length < goal) {
        const { value, done } = await within(reader.read(), 5000, "an event before the next is sent");
        assert.ok(!done, "the stream ended early");
        arrived = Buffer.concat([arrived, value]);
      }
      sent = goal;
    }
    assert.equal(arrived.toString(), expected);
    next();
    assert.ok((await within(reader.read(), 5000, "the end")).done);
  });

  test("what a server says on its own stream reaches the client in its order, known to Freshet or not", async (t) => {
    const own = borrow(t);
    const said = [{ method: "notifications/vendor/thing", params: { a: 1 } }, { method: "notifications/resources/list_changed" },
      { id: "ask-1", method: "roots/list" }, { method: "notifications/message", params: { level: "info", data: "é" } }]
      .map((message) => ({ jsonrpc: "2.0", ...message }));
    const frames = said.map((message) => `event: message\ndata: ${JSON.stringify(message)}\n\n`);
    frames.splice(1, 0, ": a comment\n\n", "event: ping\ndata: 2026-01-01\n\n");
    const result = `{"protocolVersion":"${PROTOCOL}","capabilities":{"resources":{}},"serverInfo":{"name":"u","version":"1"}}`;
    const upstream = await own(startRawUpstream(({ method, message }) => {
      if (method === "GET") return [STREAM_HEAD, ...frames];
      if (message.method !== "initialize") return reply("202 Accepted");
      return reply("200 OK", `{"jsonrpc":"2.0","id":0,"result":${result}}`, { "Mcp-Session-Id": "s1" });
    }));
    const freshet = await own(startFreshet({ upstream: upstream.url }));
    const session = await Session.open(freshet.url());
    const stream = await own(session.stream(), (open) => open.close());
    await stream.events.find(({ message }) => message?.method === "notifications/message");
    assert.deepEqual(stream.events.entries.map(({ message }) => message).filter(Boolean), said);
  });

  test("a cancellation does not wait for the answer of what it cancels", async (t) => {
    const { server, freshet } = await throughAndDirect(t);
    const { client, close } = await connectClient(freshet.url());
    t.after(close);
    const stop = new AbortController();
    const call = client.callTool({ name: "hang", arguments: {} }, undefined, { signal: stop.signal });
    await server.requests.find(({ method }) => method === "tools/call");
    stop.abort();
    await assert.rejects(call);
    await server.requests.find(({ method }) => method === "aborted", { ms: 5000, what: "the tool to be cancelled" });
  });

  test("an upstream that is down is said to be down, with 503 and a code", async (t) => {
    const own = borrow(t);
    const server = await SdkServer.start();
    await server.stop();
    const freshet = await own(startFreshet({ upstream: server.url }));
    const answer = await exchange(freshet.url(), { body: initialize(PROTOCOL) });
    assert.equal(answer.status, 503);
    assert.match(answer.text, /UPSTREAM_UNAVAILABLE/);
  });

  test("a foreign Origin or Host is refused before it reaches the upstream", async (t) => {
    const { server, freshet } = await throughAndDirect(t);
    for (const headers of [{ Origin: "https://evil.example" }, { Host: "evil.example" }]) {
      assert.equal((await exchange(freshet.url(), { headers, body: initialize(PROTOCOL) })).status, 403);
    }
    assert.equal(server.requests.length, 0);
  });

  test("a subscribe that a server declares but refuses as unknown is polled for instead", async (t) => {
    const own = borrow(t);
    const result = (id, value) => reply("200 OK", `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${value}}`, { "Mcp-Session-Id": "s1" });
    let text = "one";
    const answers = {
      initialize: () => `"result":{"protocolVersion":"${PROTOCOL}","capabilities":{"resources":{"subscribe":true}},"serverInfo":{"name":"u","version":"1"}}`,
      "resources/subscribe": () => `"error":{"code":-32601,"message":"Method not found"}`,
      "resources/read": () => `"result":{"contents":[{"uri":"note://a","text":${JSON.stringify(text)}}]}`,
    };
    const upstream = await own(startRawUpstream(({ method, message }) => {
      if (method === "GET") return reply("405 Method Not Allowed");
      const answer = answers[message.method];
      return answer ? result(message.id, answer()) : reply("202 Accepted");
    }));
    const freshet = await own(startFreshet({ upstream: upstream.url }));
    const session = await Session.open(freshet.url());
    const stream = await own(session.stream(), (open) => open.close());
    assert.deepEqual((await session.subscribe("note://a")).result, {});
    text = "two";
    await stream.updated("note://a", { ms: 5000 });
  });
});
