// 2026-07-28: the official SDK's client, unmodified, before its server with and without subscriptions, and both eras
// beside each other.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { connectClient } from "./support/client.mjs";
import { borrow } from "./support/fixture.mjs";
import { startFreshet } from "./support/freshet.mjs";
import { BOUND_MS, INTERVAL_MS, JITTER } from "./support/lag.mjs";
import {
  ask, connectModern, isAcknowledged, MODERN, openListen, subscriptionOf, watching,
} from "./support/modern-client.mjs";
import { isListen, isPoll, isRead, ModernServer } from "./support/modern-server.mjs";
import { SdkServer } from "./support/sdk-server.mjs";
import { until, within } from "./support/until.mjs";

const A = "note://a";
const B = "note://b";
const MISSING = "note://missing";
const FORM = "form://ask";
const contents = { [A]: "one", [B]: "uno" };

async function setup(t, options = {}, { config = {}, upstream = {} } = {}) {
  const own = borrow(t);
  const server = await own(ModernServer.start({ contents, ...options }));
  const upstreams = [{ name: "notes", url: server.url, ...upstream }];
  const freshet = await own(startFreshet({ config: { ...config, upstreams } }));
  const connect = (asked) => own(connectModern(freshet.url(), asked), (client) => client.close());
  const listen = (filter, asked) => own(openListen(freshet.url(), filter, asked), (stream) => stream.close());
  return { own, server, freshet, connect, listen };
}

const acknowledged = async (stream) => (await stream.events.find(isAcknowledged)).message.params.notifications;
const messages = (stream) => stream.events.entries.filter(({ message }) => message).map(({ message }) => message);

describe("a modern server without subscriptions", { concurrency: 4 }, () => {
  test("is shown as able to subscribe, and otherwise as it is", async (t) => {
    const { server, freshet } = await setup(t);
    const direct = await ask(server.url, "server/discover");
    const through = await ask(freshet.url(), "server/discover");
    const shown = structuredClone(direct.message.result);
    shown.capabilities.resources.subscribe = true;
    assert.deepEqual(through.message.result, shown);
    assert.deepEqual(Object.keys(through.message.result), Object.keys(direct.message.result));
  });

  test("a change is told once, and then reads as changed without a second read", async (t) => {
    const { server, connect } = await setup(t);
    const client = await connect();
    assert.equal(await client.text(A), "one");
    await client.listen(watching(A, B));
    const changed = performance.now();
    server.set(A, "two");
    const { at } = await client.updated(A, { ms: BOUND_MS });
    assert.ok(at - changed <= BOUND_MS, `told after ${at - changed} ms`);
    const reads = server.requests.count(isRead(A));
    assert.equal(await client.text(A), "two");
    assert.equal(server.requests.count(isRead(A)), reads);
    server.set(B, "due");
    await client.updated(B, { ms: BOUND_MS });
    assert.equal(client.updates(A), 1);
  });

  test("a listen is acknowledged first, for exactly what can be read", async (t) => {
    const { connect, listen } = await setup(t);
    const client = await connect();
    const subscription = await client.listen({ ...watching(A, MISSING, B), promptsListChanged: true });
    assert.deepEqual(subscription.honoredFilter, watching(A, B));
    const raw = await listen(watching(MISSING, B));
    assert.equal(raw.headers["x-accel-buffering"], "no");
    assert.deepEqual(await acknowledged(raw), watching(B));
    assert.ok(isAcknowledged(raw.events.entries[0]));
  });

  test("every frame carries the subscription id as it was given, number or string", async (t) => {
    const { server, listen } = await setup(t);
    const streams = [await listen(watching(A), { id: 7 }), await listen(watching(A), { id: "7" })];
    await Promise.all(streams.map(acknowledged));
    server.set(A, "two");
    for (const [index, id] of [7, "7"].entries()) {
      const stream = streams[index];
      await stream.updated(A, { ms: BOUND_MS });
      for (const message of messages(stream)) assert.strictEqual(subscriptionOf({ message }), id);
      assert.equal(messages(stream).length, 2);
    }
  });

  test("two listens of one client are told apart, and one ends without the other", async (t) => {
    const { server, connect } = await setup(t);
    const client = await connect();
    const first = await client.listen(watching(A));
    await client.listen(watching(B));
    await first.close();
    await server.requests.times(3, isPoll(B), { from: server.requests.length });
    const from = server.requests.length;
    server.set(A, "two");
    server.set(B, "due");
    await client.updated(B, { ms: BOUND_MS });
    assert.equal(server.requests.entries.slice(from).filter(isPoll(A)).length, 0);
    assert.equal(client.updates(A), 0);
  });

  test("what honours nothing is acknowledged as such and completed at once", async (t) => {
    const { freshet, listen } = await setup(t);
    const asked = Array.from({ length: 20 }, (_, id) => listen(id % 2 ? watching(MISSING) : {}, { id }));
    for (const [id, stream] of (await Promise.all(asked)).entries()) {
      await within(stream.ended, 5000, "the stream's end");
      const [first, last] = messages(stream);
      assert.deepEqual(first.params.notifications, {});
      assert.deepEqual([last.id, last.result.resultType, subscriptionOf({ message: last })], [id, "complete", id]);
    }
    assert.equal(await freshet.metric("freshet_sessions"), 0);
  });

  test("a client that goes ends its polls and all that hung on it", async (t) => {
    const { server, freshet, listen } = await setup(t, {}, { upstream: { lists: { poll: true, interval: "1s" } } });
    const stream = await listen({ ...watching(A, B), resourcesListChanged: true });
    await acknowledged(stream);
    await server.requests.times(2, isPoll(A));
    stream.close();
    for (const name of ["freshet_sessions", "freshet_streams", "freshet_subscriptions"]) {
      await freshet.metricReaches(name, (value) => value === 0);
    }
    await until(() => server.open(() => true).length === 0, 5000, "the upstream to hold nothing open");
    const from = server.requests.length;
    const other = await listen(watching(B));
    await acknowledged(other);
    await server.requests.times(3, isPoll(B), { from });
    assert.equal(server.requests.entries.slice(from).filter(isPoll(A)).length, 0);
  });

  test("a drain completes the stream", async (t) => {
    const { freshet, connect, listen } = await setup(t);
    const subscription = await (await connect()).listen(watching(A));
    const raw = await listen(watching(A), { id: "last" });
    await acknowledged(raw);
    freshet.child.signal("SIGTERM");
    assert.equal(await within(subscription.closed, 10_000, "the subscription's end"), "graceful");
    await raw.ended;
    const last = messages(raw).at(-1);
    assert.deepEqual([last.id, last.result.resultType, subscriptionOf({ message: last })], ["last", "complete", "last"]);
  });

  test("a read that Freshet answers carries what is left of its ttl", async (t) => {
    const { server, freshet, listen } = await setup(t, { cacheHint: { ttlMs: 60_000, cacheScope: "private" } });
    const stream = await listen(watching(A));
    await acknowledged(stream);
    server.set(A, "two");
    await stream.updated(A, { ms: 2 * BOUND_MS });
    const reads = server.requests.count(isRead(A));
    const { result } = (await ask(freshet.url(), "resources/read", { uri: A })).message;
    assert.equal(server.requests.count(isRead(A)), reads);
    assert.equal(result.contents[0].text, "two");
    assert.ok(result.ttlMs > 57_000 && result.ttlMs < 60_000, `${result.ttlMs} ms left`);
    assert.equal(result.cacheScope, "private");
  });

  test("who writes reads what was written, also just after an update", async (t) => {
    const { server, connect } = await setup(t);
    const client = await connect();
    await client.listen(watching(A));
    server.set(A, "two");
    await client.updated(A, { ms: BOUND_MS });
    await client.client.callTool({ name: "write", arguments: { uri: A, text: "mine" } });
    assert.equal(await client.text(A), "mine");
  });

  test("what needs input to be read is neither acknowledged nor polled", async (t) => {
    const { server, listen } = await setup(t);
    const stream = await listen(watching(FORM, A));
    assert.deepEqual(await acknowledged(stream), watching(A));
    const from = server.requests.length;
    await server.requests.times(3, isPoll(A), { from });
    assert.equal(server.requests.entries.slice(from).filter(isRead(FORM)).length, 0);
  });

  test("nobody reads with another's credentials", async (t) => {
    const { server, listen } = await setup(t);
    const [ada, bob] = ["Bearer ada", "Bearer bob"];
    await acknowledged(await listen(watching(A), { headers: { Authorization: ada } }));
    await acknowledged(await listen(watching(B), { headers: { Authorization: bob } }));
    const with_ = (uri) => server.requests.entries.filter(isRead(uri)).map(({ headers }) => headers.authorization);
    await server.requests.times(3, isPoll(A));
    await server.requests.times(3, isPoll(B));
    assert.deepEqual([...new Set(with_(A))], [ada]);
    assert.deepEqual([...new Set(with_(B))], [bob]);
  });

  test("a quiet stream is kept alive by comments", async (t) => {
    const { listen } = await setup(t, {}, { config: { streams: { keepalive_interval: "1s" } } });
    const stream = await listen(watching(A));
    await stream.events.times(3, ({ comment }) => comment !== undefined, { ms: 6000, what: "comments" });
  });
});

describe("a modern server with subscriptions", { concurrency: 4 }, () => {
  const native = (t, options) => setup(t, { subscribe: true }, options);

  test("its updates pass at once, and cost no polls", async (t) => {
    const { server, connect } = await native(t);
    const client = await connect();
    const subscription = await client.listen(watching(A, B));
    assert.deepEqual(subscription.honoredFilter, watching(A, B));
    const reads = server.requests.count(isRead(A));
    for (const text of ["two", "three"]) {
      const from = client.told.length;
      const changed = performance.now();
      server.update(A, text);
      const { at } = await client.updated(A, { from, ms: 2000 });
      assert.ok(at - changed < 500, `told after ${at - changed} ms`);
      assert.equal(await client.text(A), text);
    }
    const own = server.requests.entries.filter(isPoll(A)).length;
    assert.ok(own <= reads + 2, `${own} reads of Freshet's own`);
    assert.equal(client.updates(B), 0);
  });

  test("its list changes pass, tagged with the subscription id", async (t) => {
    const { server, listen } = await native(t);
    const stream = await listen({ ...watching(A), resourcesListChanged: true, toolsListChanged: true }, { id: "s-1" });
    assert.deepEqual(await acknowledged(stream), { toolsListChanged: true, resourcesListChanged: true, ...watching(A) });
    server.handler.notify.resourcesChanged();
    server.handler.notify.toolsChanged();
    for (const kind of ["resources", "tools"]) {
      const event = await stream.events.find(({ message }) => message?.method === `notifications/${kind}/list_changed`);
      assert.equal(subscriptionOf(event), "s-1");
    }
  });

  test("what it acknowledges though it cannot be read is not acknowledged", async (t) => {
    const { server, listen } = await native(t);
    const direct = await openListen(server.url, watching(MISSING));
    assert.deepEqual(await acknowledged(direct), watching(MISSING));
    direct.close();
    assert.deepEqual(await acknowledged(await listen(watching(MISSING, A))), watching(A));
  });

  test("a client that goes ends the stream behind it", async (t) => {
    const { server, freshet, listen } = await native(t);
    const streams = [await listen(watching(A)), await listen({ resourcesListChanged: true })];
    await Promise.all(streams.map(acknowledged));
    assert.equal(server.open(isListen).length, 2);
    for (const stream of streams) stream.close();
    await server.requests.when(() => server.open(isListen).length === 0, 5000, "the upstream's streams to end");
    await freshet.metricReaches("freshet_subscriptions", (value) => value === 0);
  });

  test("that crashes and returns loses its listeners nothing", async (t) => {
    const { server, connect } = await native(t);
    const client = await connect();
    const subscription = await client.listen({ ...watching(A, B), resourcesListChanged: true });
    let ended = false;
    subscription.closed.then(() => { ended = true; });
    for (const [round, text] of ["two", "three"].entries()) {
      let from = client.told.length;
      await server.crash();
      server.set(A, text);
      await server.resume();
      await client.updated(A, { from, ms: 15_000 });
      assert.equal(await client.text(A), text);
      await server.requests.when(() => server.open(isListen).length === 1, 15_000, "the stream to be reopened");
      from = client.told.length;
      server.update(B, `round ${round}`);
      await client.updated(B, { from, ms: 5000 });
    }
    assert.equal(ended, false);
  });
});

describe("eras", { concurrency: 4 }, () => {
  const rows = {
    "a modern server": [() => ModernServer.start({ contents }), MODERN],
    "a server of both eras": [() => ModernServer.start({ contents, legacy: "stateless" }), MODERN],
    "a legacy server with sessions": [() => SdkServer.start({ contents }), "2025-11-25"],
    "a legacy server without sessions": [() => SdkServer.start({ contents, stateful: false }), "2025-11-25"],
    "a legacy server that answers in JSON": [() => SdkServer.start({ contents, json: true }), "2025-11-25"],
  };
  for (const [name, [start, version]] of Object.entries(rows)) {
    test(`a client of both eras meets ${name}, and is told of a change`, async (t) => {
      const own = borrow(t);
      const server = await own(start());
      const freshet = await own(startFreshet({ upstream: server.url }));
      const mode = "auto";
      const direct = await own(connectModern(server.url, { mode }), (client) => client.close());
      const through = await own(connectModern(freshet.url(), { mode }), (client) => client.close());
      assert.equal(direct.client.getNegotiatedProtocolVersion(), version);
      assert.equal(through.client.getNegotiatedProtocolVersion(), version);
      assert.equal(await through.text(A), "one");
      if (version === MODERN) await through.listen(watching(A));
      else await through.client.subscribeResource({ uri: A });
      server.set(A, "two");
      await through.updated(A, { ms: BOUND_MS });
    });
  }

  test("a legacy client meets a server of both eras, and is told of a change", async (t) => {
    const { own, server, freshet } = await setup(t, { legacy: "stateless" });
    const client = await own(connectClient(freshet.url()), (legacy) => legacy.close());
    await client.client.subscribeResource({ uri: A });
    server.set(A, "two");
    await client.updated(A, { ms: BOUND_MS });
  });

  test("what fails by rule fails in the same way", async (t) => {
    const own = borrow(t);
    const modern = await own(ModernServer.start({ contents }));
    const legacy = await own(SdkServer.start({ contents }));
    const config = { upstreams: [modern, legacy].map(({ url }, index) => ({ name: `u${index}`, url, path: `/${index}` })) };
    const freshet = await own(startFreshet({ config }));
    const failure = (connecting) => connecting.then(() => undefined, ({ name, code, message }) => ({ name, code, message }));
    const legacyToModern = await failure(connectClient(modern.url));
    assert.ok(legacyToModern);
    assert.deepEqual(await failure(connectClient(freshet.url("/0"))), legacyToModern);
    const modernToLegacy = await failure(connectModern(legacy.url));
    assert.ok(modernToLegacy);
    assert.deepEqual(await failure(connectModern(freshet.url("/1"))), modernToLegacy);
  });

  test("a legacy session and a modern stream of one principal share their polls", async (t) => {
    const { own, server, freshet, connect } = await setup(t, { legacy: "stateless" });
    const legacy = await own(connectClient(freshet.url()), (client) => client.close());
    const modern = await connect();
    await legacy.client.subscribeResource({ uri: A });
    await modern.listen(watching(A));
    const polls = await server.requests.times(6, isPoll(A), { from: server.requests.length });
    const perPoll = (polls[5].at - polls[0].at) / 5;
    assert.ok(perPoll > INTERVAL_MS * (1 - JITTER) * 0.9, `a poll each ${perPoll} ms`);
    server.set(A, "two");
    await Promise.all([legacy.updated(A, { ms: BOUND_MS }), modern.updated(A, { ms: BOUND_MS })]);
    assert.equal(await modern.text(A), "two");
    assert.equal(await legacy.text(A), "two");
  });
});
