// Upstreams that restart, and upstreams that promise to notify and do not.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { connectClient } from "./support/client.mjs";
import { borrow } from "./support/fixture.mjs";
import { startFreshet } from "./support/freshet.mjs";
import { MEMORY_GRAPH, remember, startEverything, startMemoryPerSession } from "./support/npm-servers.mjs";
import { SdkServer, startSdkServerProcess } from "./support/sdk-server.mjs";

const A = "note://a";
const SENTINEL = "note://sentinel";
const RESTARTS = 50;
const HEAL_MS = 20_000;
const PROMPT_ROUNDS = 20;

describe("a server that is killed and restarted under a subscribed client", () => {
  for (const subscribe of [false, true]) {
    const kind = subscribe ? "declares subscribe" : "cannot subscribe";
    test(`${RESTARTS} times, and ${kind}: every change is told once, on one stream`, async (t) => {
      const own = borrow(t);
      const contents = { [A]: "v0", [SENTINEL]: "0" };
      const server = await own(startSdkServerProcess({ subscribe, contents }), (one) => one.kill());
      const freshet = await own(startFreshet({ upstream: server.url, interval: "200ms" }));
      const client = await own(connectClient(freshet.url()), (one) => one.close());
      const session = client.transport.sessionId;
      for (const uri of [A, SENTINEL]) await client.client.subscribeResource({ uri });
      for (let round = 1; round <= RESTARTS; ++round) {
        await server.kill();
        server.set(A, `v${round}`);
        await server.start();
        await client.told.when(() => client.updates(A) >= round, HEAL_MS, `the update of round ${round}`);
        assert.equal(await client.text(A), `v${round}`);
      }
      server.set(SENTINEL, "1");
      if (subscribe) server.notify(SENTINEL);
      await client.updated(SENTINEL, { ms: HEAL_MS });
      assert.equal(client.updates(A), RESTARTS);
      assert.equal(client.transport.sessionId, session, "the client had to start again");
    });
  }

  test("a call while it is down says so, and works again afterwards, in the same session", async (t) => {
    const own = borrow(t);
    const server = await own(startSdkServerProcess({ contents: { [A]: "one" } }), (one) => one.kill());
    const freshet = await own(startFreshet({ upstream: server.url, interval: "200ms" }));
    const client = await own(connectClient(freshet.url()), (one) => one.close());
    await server.kill();
    await assert.rejects(client.text(A), /UPSTREAM_UNAVAILABLE/);
    await server.start();
    assert.equal(await client.text(A), "one");
    await client.client.callTool({ name: "write", arguments: { uri: A, text: "two" } });
    assert.equal(await client.text(A), "two");
  });
});

describe("a server that accepts subscriptions and does not notify", () => {
  const freshness = { watchdog_silence: "1s", watchdog_grace: "500ms" };

  async function behind(t, starting) {
    const own = borrow(t);
    const server = await own(starting);
    const config = { upstreams: [{ name: "silent", url: server.url, freshness }] };
    const freshet = await own(startFreshet({ config }));
    const connect = () => own(connectClient(freshet.url()), (one) => one.close());
    return { server, freshet, connect };
  }

  test("is found out by the watchdog, and its subscribers are polled for (supergateway)", async (t) => {
    const { freshet, connect } = await behind(t, startMemoryPerSession());
    const [reader, writer] = [await connect(), await connect()];
    await reader.text(MEMORY_GRAPH);
    await reader.client.subscribeResource({ uri: MEMORY_GRAPH });
    await remember(writer.client, "ada");
    await reader.updated(MEMORY_GRAPH, { ms: 10_000 });
    assert.match(await reader.text(MEMORY_GRAPH), /ada/);
    await freshet.metricReaches("freshet_strategy_changes_total", (value) => value >= 1);
    const from = reader.told.length;
    await remember(writer.client, "grace");
    await reader.updated(MEMORY_GRAPH, { from, ms: 5000 });
  });

  test("is found out by the watchdog also where it would notify only when told to (server-everything)", async (t) => {
    const { freshet, connect } = await behind(t, startEverything());
    const client = await connect();
    const uri = "demo://resource/dynamic/text/1";
    await client.client.subscribeResource({ uri });
    await client.updated(uri, { ms: 10_000 });
    await freshet.metricReaches("freshet_strategy_changes_total", (value) => value === 1);
  });

  test("is trusted again once it notifies promptly", async (t) => {
    const { server, freshet, connect } = await behind(t, SdkServer.start({ subscribe: true, contents: { [A]: "v0" } }));
    const client = await connect();
    await client.client.subscribeResource({ uri: A });
    server.set(A, "unsaid");
    await client.updated(A, { ms: 10_000 });
    await freshet.metricReaches("freshet_strategy_changes_total", (value) => value === 1);
    for (let round = 1; round <= PROMPT_ROUNDS; ++round) {
      if (await freshet.metric("freshet_strategy_changes_total") > 1) break;
      const from = client.told.length;
      server.set(A, `v${round}`);
      await server.notify(A);
      await client.updated(A, { from, ms: 5000 });
      assert.equal(await client.text(A), `v${round}`);
    }
    assert.equal(await freshet.metric("freshet_strategy_changes_total"), 2);
  });
});
