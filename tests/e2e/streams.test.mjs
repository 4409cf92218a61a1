// Event streams and sessions: loss, return, replay, absence, the end.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { connectClient } from "./support/client.mjs";
import { borrow } from "./support/fixture.mjs";
import { startFreshet } from "./support/freshet.mjs";
import { BOUND_MS } from "./support/lag.mjs";
import { startRelay } from "./support/relay.mjs";
import { isPoll, SdkServer } from "./support/sdk-server.mjs";
import { messagesOf, Session } from "./support/session.mjs";
import { within } from "./support/until.mjs";

const A = "note://a";
const SENTINEL = "note://sentinel";
const contents = { [A]: "one", [SENTINEL]: "0" };

for (const [kind, options] of Object.entries({ stateful: { stateful: true }, stateless: { stateful: false } })) {
  describe(`a stream to a ${kind} server`, { concurrency: 4 }, () => {
    async function setup(t, config = {}) {
      const own = borrow(t);
      const server = await own(SdkServer.start({ ...options, contents }));
      const sessions = { absent_grace: "1s", ...config.sessions };
      const upstream = { name: "notes", url: server.url, ...config, sessions };
      const freshet = await own(startFreshet({ config: { upstreams: [upstream] } }));
      return { own, server, freshet };
    }

    const open = async (own, session, lastEventId) =>
      own(session.stream(lastEventId), (stream) => stream.close());

    // Waits until the server was polled for the sentinel `times` times in a row and not once for A.
    async function pollsOfAEnded(server, times = 4) {
      const ended = () => {
        const polls = server.requests.entries.filter((entry) => isPoll(A)(entry) || isPoll(SENTINEL)(entry));
        return polls.length > times && polls.slice(-times).every(isPoll(SENTINEL));
      };
      await server.requests.when(ended, 20_000, "the polls of A to end");
    }

    test("is answered at once, as an event stream that proxies do not buffer", async (t) => {
      const { own, freshet } = await setup(t);
      const session = await Session.open(freshet.url());
      const stream = await open(own, session);
      assert.equal(stream.status, 200);
      assert.match(stream.headers["content-type"], /^text\/event-stream/);
      assert.equal(stream.headers["x-accel-buffering"], "no");
      await stream.events.find((event) => event.comment !== undefined, { ms: 2000, what: "a first comment" });
    });

    test("that was lost is replayed from its last event id, once and in order", async (t) => {
      const { own, server, freshet } = await setup(t, { sessions: { absent_grace: "30s" } });
      const session = await Session.open(freshet.url());
      await session.subscribe(A);
      await session.subscribe(SENTINEL);
      const first = await open(own, session);
      server.set(A, "two");
      await first.updated(A, { ms: BOUND_MS });
      first.close();
      await first.ended;
      const from = server.requests.length;
      server.set(A, "three");
      await server.requests.times(2, isPoll(A), { from });
      const second = await open(own, session, first.lastId);
      await second.updated(A, { ms: BOUND_MS });
      server.set(SENTINEL, "1");
      await second.updated(SENTINEL, { ms: BOUND_MS });
      assert.equal(second.updates(A).length, 1);
    });

    test("resumed with an id that was never given replays nothing", async (t) => {
      const { own, server, freshet } = await setup(t);
      const session = await Session.open(freshet.url());
      await session.subscribe(A);
      await session.subscribe(SENTINEL);
      const first = await open(own, session);
      server.set(A, "two");
      await first.updated(A, { ms: BOUND_MS });
      assert.equal(await session.read(A), "two");
      const second = await open(own, session, "nonsense-999");
      server.set(SENTINEL, "1");
      if (second.status === 200) {
        await Promise.any([first, second].map((stream) => stream.updated(SENTINEL, { ms: BOUND_MS })));
      }
      assert.equal(second.updates?.(A).length ?? 0, 0);
    });

    test("opened a second time replaces the first, which ends", async (t) => {
      const { own, server, freshet } = await setup(t);
      const session = await Session.open(freshet.url());
      await session.subscribe(A);
      const first = await open(own, session);
      const second = await open(own, session);
      await within(first.ended, 5000, "the first stream to end");
      server.set(A, "two");
      await second.updated(A, { ms: BOUND_MS });
      assert.equal(first.updates(A).length, 0);
    });

    test("that nobody holds costs no polls after the grace, and its session is caught up on return", async (t) => {
      const { own, server, freshet } = await setup(t);
      const [gone, stays] = [await Session.open(freshet.url()), await Session.open(freshet.url())];
      const left = await open(own, gone);
      await open(own, stays);
      await gone.subscribe(A);
      await stays.subscribe(SENTINEL);
      await server.requests.find(isPoll(A));
      left.close();
      await pollsOfAEnded(server);
      server.set(A, "two");
      const back = await open(own, gone);
      await back.updated(A, { ms: BOUND_MS });
      assert.equal(await gone.read(A), "two");
    });

    test("whose resource did not change while its client was away says nothing on return", async (t) => {
      const { own, server, freshet } = await setup(t);
      const [gone, stays] = [await Session.open(freshet.url()), await Session.open(freshet.url())];
      const left = await open(own, gone);
      await open(own, stays);
      await gone.subscribe(A);
      await stays.subscribe(SENTINEL);
      await server.requests.find(isPoll(A));
      left.close();
      await pollsOfAEnded(server);
      const from = server.requests.length;
      const back = await open(own, gone);
      await gone.subscribe(SENTINEL);
      await server.requests.times(2, isPoll(A), { from });
      server.set(SENTINEL, "1");
      await back.updated(SENTINEL, { ms: BOUND_MS });
      assert.equal(back.updates(A).length, 0);
    });

    test("cut under the SDK's client is resumed by it, and the change meanwhile is told once", async (t) => {
      const { own, server, freshet } = await setup(t, { sessions: { absent_grace: "30s" } });
      const network = await own(startRelay(freshet.origin));
      const client = await own(connectClient(`${network.origin}/mcp`), (one) => one.close());
      await client.client.subscribeResource({ uri: A });
      await client.client.subscribeResource({ uri: SENTINEL });
      server.set(A, "two");
      await client.updated(A, { ms: BOUND_MS });
      network.cut();
      server.set(A, "three");
      await client.updated(A, { from: 1, ms: 2 * BOUND_MS });
      server.set(SENTINEL, "1");
      await client.updated(SENTINEL, { ms: BOUND_MS });
      assert.equal(client.updates(A), 2);
      assert.equal(await client.text(A), "three");
    });

    test("ends with its session: DELETE stops the polls, and the id is unknown from then on", async (t) => {
      const { own, server, freshet } = await setup(t);
      const [ends, stays] = [await Session.open(freshet.url()), await Session.open(freshet.url())];
      const stream = await open(own, ends);
      await open(own, stays);
      await ends.subscribe(A);
      await stays.subscribe(SENTINEL);
      await server.requests.find(isPoll(A));
      const { status } = await ends.delete();
      assert.ok(status < 300 || status === 405, `DELETE was answered ${status}`);
      if (status < 300) {
        await within(stream.ended, 5000, "the stream to end");
        await pollsOfAEnded(server);
        assert.equal((await ends.notify("ping")).status, 404);
      }
    });
  });
}

test("300 streams that were opened and dropped leave nothing behind, here or on the server", async (t) => {
  const own = borrow(t);
  const server = await own(SdkServer.start({ contents }));
  const freshet = await own(startFreshet({ upstream: server.url }));
  const session = await Session.open(freshet.url());
  for (let round = 0; round < 300; ++round) {
    const stream = await session.stream();
    assert.equal(stream.status, 200);
    stream.close();
  }
  assert.equal(await session.read(A), "one");
  await freshet.metricReaches("freshet_streams", (value) => value === 0);
  assert.ok(server.open.size < 10, `${server.open.size} connections to the server are open`);
});

describe("a session", { concurrency: 4 }, () => {
  test("that nobody made is answered 404, so that its client starts again", async (t) => {
    const own = borrow(t);
    const server = await own(SdkServer.start({ contents }));
    const freshet = await own(startFreshet({ upstream: server.url }));
    const session = await Session.open(freshet.url());
    session.id = "00000000-0000-0000-0000-000000000000";
    const body = { jsonrpc: "2.0", id: 7, method: "resources/subscribe", params: { uri: A } };
    const answer = await session.exchange(body);
    assert.equal(answer.status, 404);
    assert.equal(messagesOf(answer)[0].error.code, -32001);
    assert.equal((await session.stream()).status, 404);
  });

  test("is not attached to by another credential that the server does not accept on it", async (t) => {
    const own = borrow(t);
    const respond = (request, response) => {
      if (request.headers.authorization === "Bearer alice") return false;
      response.writeHead(401, { "WWW-Authenticate": "Bearer" }).end();
      return true;
    };
    const server = await own(SdkServer.start({ contents, respond }));
    const freshet = await own(startFreshet({ upstream: server.url }));
    const alice = await Session.open(freshet.url(), { headers: { Authorization: "Bearer alice" } });
    await alice.subscribe(A);
    const stream = await own(alice.stream(), (open) => open.close());
    const bob = new Session(freshet.url(), { headers: { Authorization: "Bearer bob" } });
    bob.id = alice.id;
    assert.equal((await bob.stream()).status, 401);
    server.set(A, "two");
    await stream.updated(A, { ms: BOUND_MS });
  });

  test("above its limit of subscriptions gets a clear error, and keeps those that it has", async (t) => {
    const own = borrow(t);
    const server = await own(SdkServer.start({ contents: { ...contents, "note://b": "b" } }));
    const limits = { subscriptions_per_session_max: 2 };
    const config = { limits, upstreams: [{ name: "notes", url: server.url }] };
    const freshet = await own(startFreshet({ config }));
    const session = await Session.open(freshet.url());
    const stream = await own(session.stream(), (open) => open.close());
    for (const uri of [A, SENTINEL, A]) assert.deepEqual((await session.subscribe(uri)).result, {});
    const { error } = await session.subscribe("note://b");
    assert.equal(typeof error.code, "number");
    assert.match(error.message, /2/);
    server.set(A, "two");
    await stream.updated(A, { ms: BOUND_MS });
    await session.unsubscribe(A);
    assert.deepEqual((await session.subscribe("note://b")).result, {});
  });

  test("that subscribes twice and unsubscribes once is silent, and unsubscribing again is no error", async (t) => {
    const own = borrow(t);
    const server = await own(SdkServer.start({ contents }));
    const freshet = await own(startFreshet({ upstream: server.url }));
    const session = await Session.open(freshet.url());
    const stream = await own(session.stream(), (open) => open.close());
    for (const uri of [A, A, SENTINEL]) await session.subscribe(uri);
    assert.deepEqual((await session.unsubscribe(A)).result, {});
    const from = server.requests.length;
    server.set(A, "two");
    await server.requests.times(3, isPoll(SENTINEL), { from });
    server.set(SENTINEL, "1");
    await stream.updated(SENTINEL, { ms: BOUND_MS });
    assert.equal(stream.updates(A).length, 0);
    assert.deepEqual((await session.unsubscribe(A)).result, {});
    assert.deepEqual((await session.unsubscribe("note://never")).result, {});
  });
});
