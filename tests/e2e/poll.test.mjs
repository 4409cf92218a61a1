// Issue 2, proof (a): the official client, unmodified, before an SDK McpServer that declares no subscribe.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { connectClient } from "./support/client.mjs";
import { borrow } from "./support/fixture.mjs";
import { startFreshet } from "./support/freshet.mjs";
import { BOUND_MS, INTERVAL_MS, JITTER } from "./support/lag.mjs";
import { isPoll, isRead, SdkServer } from "./support/sdk-server.mjs";

const A = "note://a";
const SENTINEL = "note://sentinel";
const variants = {
  "a stateful server": { stateful: true },
  "a stateful server that answers in JSON": { stateful: true, json: true },
  "a stateless server": { stateful: false },
};

for (const [name, options] of Object.entries(variants)) {
  describe(`through Freshet, ${name}`, { concurrency: 4 }, () => {
    async function setup(t, clients = 1) {
      const own = borrow(t);
      const contents = { [A]: "one", [SENTINEL]: "0" };
      const server = await own(SdkServer.start({ ...options, contents }));
      const freshet = await own(startFreshet({ upstream: server.url }));
      const connect = () => own(connectClient(freshet.url()), (client) => client.close());
      return { server, freshet, connect, clients: await Promise.all(Array.from({ length: clients }, connect)) };
    }

    // Proves that nothing came, by what came after: another resource's change, told on the same stream.
    async function passSentinel({ server }, client) {
      const from = client.told.length;
      server.set(SENTINEL, String(performance.now()));
      await client.updated(SENTINEL, { from, ms: BOUND_MS });
    }

    test("is shown as able to subscribe, and reads as before", async (t) => {
      const { clients: [client] } = await setup(t);
      assert.equal(client.client.getServerCapabilities().resources.subscribe, true);
      assert.equal(await client.text(A), "one");
    });

    test("a change is told once, within the bound, and then reads as changed", async (t) => {
      const world = await setup(t);
      const { server, clients: [client] } = world;
      assert.equal(await client.text(A), "one");
      await client.client.subscribeResource({ uri: A });
      await client.client.subscribeResource({ uri: SENTINEL });
      const changed = performance.now();
      server.set(A, "two");
      const { at } = await client.updated(A, { ms: BOUND_MS });
      assert.ok(at - changed <= BOUND_MS, `told after ${at - changed} ms`);
      assert.equal(await client.text(A), "two");
      const from = server.requests.length;
      await server.requests.times(2, isPoll(A), { from });
      await passSentinel(world, client);
      assert.equal(client.updates(A), 1);
    });

    test("every change of a series is told, once each", async (t) => {
      const { server, clients: [client] } = await setup(t);
      await client.client.subscribeResource({ uri: A });
      for (const [index, text] of ["two", "three", "one"].entries()) {
        server.set(A, text);
        await client.updated(A, { from: index, ms: BOUND_MS });
        assert.equal(await client.text(A), text);
      }
      assert.equal(client.updates(A), 3);
    });

    test("no change tells nothing, whoever reads", async (t) => {
      const world = await setup(t);
      const { server, clients: [client] } = world;
      await client.client.subscribeResource({ uri: A });
      await client.client.subscribeResource({ uri: SENTINEL });
      const from = server.requests.length;
      await client.text(A);
      await server.requests.times(3, isPoll(A), { from });
      await passSentinel(world, client);
      assert.equal(client.updates(A), 0);
    });

    test("after unsubscribe nothing is told and nothing is polled", async (t) => {
      const world = await setup(t);
      const { server, clients: [client] } = world;
      await client.client.subscribeResource({ uri: A });
      await client.client.subscribeResource({ uri: SENTINEL });
      await server.requests.find(isPoll(A));
      await client.client.unsubscribeResource({ uri: A });
      const from = server.requests.length;
      server.set(A, "two");
      await server.requests.times(3, isPoll(SENTINEL), { from });
      await passSentinel(world, client);
      assert.equal(client.updates(A), 0);
      assert.equal(server.requests.entries.slice(from).filter(isRead(A)).length, 0);
    });

    test("two subscribers are both told, and polled for once", async (t) => {
      const { server, clients: [one, two] } = await setup(t, 2);
      await one.client.subscribeResource({ uri: A });
      await two.client.subscribeResource({ uri: A });
      const from = server.requests.length;
      const polls = await server.requests.times(5, isPoll(A), { from });
      const perPoll = (polls[4].at - polls[0].at) / 4;
      assert.ok(perPoll > INTERVAL_MS * (1 - JITTER) * 0.9, `a poll each ${perPoll} ms`);
      server.set(A, "two");
      await Promise.all([one.updated(A, { ms: BOUND_MS }), two.updated(A, { ms: BOUND_MS })]);
    });

    test("only who subscribed is told", async (t) => {
      const world = await setup(t, 2);
      const { server, clients: [one, two] } = world;
      await one.client.subscribeResource({ uri: A });
      await two.client.subscribeResource({ uri: SENTINEL });
      server.set(A, "two");
      await one.updated(A, { ms: BOUND_MS });
      await passSentinel(world, two);
      assert.equal(two.updates(A), 0);
      assert.equal(one.updates(SENTINEL), 0);
    });

    test("the read after an update costs the server no second read", async (t) => {
      const { server, clients: [client] } = await setup(t);
      await client.client.subscribeResource({ uri: A });
      server.set(A, "two");
      await client.updated(A, { ms: BOUND_MS });
      const reads = server.requests.count(isRead(A));
      assert.equal(await client.text(A), "two");
      assert.equal(server.requests.count(isRead(A)), reads);
    });

    test("who writes reads what was written, also just after an update", async (t) => {
      const { server, clients: [client] } = await setup(t);
      await client.client.subscribeResource({ uri: A });
      server.set(A, "two");
      await client.updated(A, { ms: BOUND_MS });
      await client.client.callTool({ name: "write", arguments: { uri: A, text: "mine" } });
      assert.equal(await client.text(A), "mine");
    });

    test("a change between a read and the subscribe is told", async (t) => {
      const { server, clients: [client] } = await setup(t);
      assert.equal(await client.text(A), "one");
      server.set(A, "two");
      await client.client.subscribeResource({ uri: A });
      await client.updated(A, { ms: BOUND_MS });
    });

    test("subscribing to what does not exist gives the server's own error", async (t) => {
      const { clients: [client] } = await setup(t);
      const refused = client.client.subscribeResource({ uri: "note://missing" });
      await assert.rejects(refused, { code: -32002, message: /Resource not found/ });
    });

    test("tools, prompts and progress cross unchanged", async (t) => {
      const { clients: [{ client }] } = await setup(t);
      const written = await client.callTool({ name: "write", arguments: { uri: "note://new", text: "x" } });
      assert.deepEqual(written, { content: [{ type: "text", text: "written" }] });
      const greeting = await client.getPrompt({ name: "greet", arguments: { name: "Ada" } });
      assert.equal(greeting.messages[0].content.text, "Hello, Ada");
      const steps = [];
      const onprogress = ({ progress }) => steps.push(progress);
      await client.callTool({ name: "count", arguments: { to: 4 } }, undefined, { onprogress });
      // A server that answers in JSON has nowhere to send progress.
      assert.deepEqual(steps, options.json ? [] : [1, 2, 3, 4]);
    });

    test("the templates and the list of resources are the server's", async (t) => {
      const { server, clients: [{ client }] } = await setup(t);
      const direct = await connectClient(server.url);
      t.after(() => direct.close());
      assert.deepEqual(await client.listResources(), await direct.client.listResources());
      assert.deepEqual(await client.listTools(), await direct.client.listTools());
    });
  });
}
