// Issue 2, proof (b) and (c): real servers that notify by themselves, and everything else that they do.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { connectClient } from "./support/client.mjs";
import { borrow } from "./support/fixture.mjs";
import { startFreshet } from "./support/freshet.mjs";
import { MEMORY_GRAPH, remember, startEverything, startMemoryBehindProxy } from "./support/npm-servers.mjs";
import { exchange, Session } from "./support/session.mjs";

const DYNAMIC = "demo://resource/dynamic/text/1";
const RELAY_MS = 1000;
const call = (client, name, args = {}, options) => client.callTool({ name, arguments: args }, undefined, options);

async function behind(t, starting) {
  const own = borrow(t);
  const server = await own(starting);
  const freshet = await own(startFreshet({ upstream: server.url, interval: "30s" }));
  const connect = (url = freshet.url(), options) => own(connectClient(url, options), (one) => one.close());
  return { own, server, freshet, connect };
}

describe("server-everything, through Freshet", { concurrency: 2 }, () => {
  test("its updates are relayed to the session that subscribed, and to no other", async (t) => {
    const { connect } = await behind(t, startEverything());
    const [one, two] = [await connect(), await connect()];
    await one.client.subscribeResource({ uri: DYNAMIC });
    await call(two.client, "toggle-subscriber-updates");
    await call(one.client, "toggle-subscriber-updates");
    await one.updated(DYNAMIC, { ms: RELAY_MS + 5000 });
    assert.equal(two.told.length, 0);
  });

  test("its declaration, lists, prompts, tools and resources are what they are without Freshet", async (t) => {
    const { server, connect } = await behind(t, startEverything());
    const [through, direct] = [await connect(), await connect(server.url)];
    const ask = async ({ client }) => ({
      capabilities: client.getServerCapabilities(),
      version: client.getServerVersion(),
      instructions: client.getInstructions(),
      tools: await client.listTools(),
      prompts: await client.listPrompts(),
      resources: await client.listResources(),
      templates: await client.listResourceTemplates(),
      sum: await call(client, "get-sum", { a: 2, b: 3 }),
      image: await call(client, "get-tiny-image"),
      prompt: await client.getPrompt({ name: "args-prompt", arguments: { city: "Oslo" } }),
    });
    assert.deepEqual(await ask(through), await ask(direct));
  });

  test("sampling, elicitation and roots go to the client and their answers come back", async (t) => {
    const { connect } = await behind(t, startEverything());
    const roots = [{ uri: "file:///work", name: "work" }];
    const prepare = (client) => {
      const content = { type: "text", text: "sampled" };
      client.setRequestHandler(CreateMessageRequestSchema, () => ({ role: "assistant", model: "none", content }));
      client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { name: "Ada" } }));
      client.setRequestHandler(ListRootsRequestSchema, () => ({ roots }));
    };
    const capabilities = { sampling: {}, elicitation: {}, roots: { listChanged: true } };
    const { client } = await connect(undefined, { capabilities, prepare });
    const text = async (...args) => JSON.stringify((await call(client, ...args)).content);
    assert.match(await text("trigger-sampling-request", { prompt: "p" }), /sampled/);
    assert.match(await text("trigger-elicitation-request"), /Ada/);
    assert.match(await text("get-roots-list"), /file:\/\/\/work/);
  });

  test("progress arrives while the tool runs", async (t) => {
    const { connect } = await behind(t, startEverything());
    const { client } = await connect();
    const steps = [];
    const onprogress = ({ progress }) => steps.push({ progress, at: performance.now() });
    await call(client, "trigger-long-running-operation", { duration: 1, steps: 4 }, { onprogress });
    assert.deepEqual(steps.map(({ progress }) => progress), [1, 2, 3, 4]);
    assert.ok(steps[3].at - steps[0].at > 400, "the steps came together");
  });

  test("an unknown session and a DELETE are answered", async (t) => {
    const { freshet } = await behind(t, startEverything());
    const session = await Session.open(freshet.url());
    assert.equal((await session.delete()).status, 200);
    assert.equal((await session.notify("ping")).status, 404);
  });
});

describe("server-memory behind mcp-proxy, through Freshet", { concurrency: 2 }, () => {
  test("a write in one session is told to the other at once, and once", async (t) => {
    const { connect } = await behind(t, startMemoryBehindProxy());
    const [reader, writer] = [await connect(), await connect()];
    assert.equal(await reader.text(MEMORY_GRAPH), await writer.text(MEMORY_GRAPH));
    await reader.client.subscribeResource({ uri: MEMORY_GRAPH });
    for (const name of ["ada", "grace", "edsger"]) {
      const from = reader.told.length;
      const wrote = performance.now();
      await remember(writer.client, name);
      const { at } = await reader.updated(MEMORY_GRAPH, { from, ms: RELAY_MS });
      assert.ok(at - wrote < RELAY_MS);
      assert.match(await reader.text(MEMORY_GRAPH), new RegExp(name));
    }
    assert.equal(reader.updates(MEMORY_GRAPH), 3);
    assert.equal(writer.told.length, 0);
  });

  test("after unsubscribe a write is told no more", async (t) => {
    const { connect } = await behind(t, startMemoryBehindProxy());
    const [reader, witness, writer] = [await connect(), await connect(), await connect()];
    await reader.client.subscribeResource({ uri: MEMORY_GRAPH });
    await reader.client.unsubscribeResource({ uri: MEMORY_GRAPH });
    // Only now: this server keeps one set of subscriptions for all sessions.
    await witness.client.subscribeResource({ uri: MEMORY_GRAPH });
    await remember(writer.client, "ada");
    await witness.updated(MEMORY_GRAPH, { ms: RELAY_MS });
    await reader.text(MEMORY_GRAPH);
    assert.equal(reader.told.length, 0);
  });

  test("its declaration is shown unchanged, to the byte", async (t) => {
    const { server, freshet } = await behind(t, startMemoryBehindProxy());
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "p", version: "1" } };
    const body = { jsonrpc: "2.0", id: 1, method: "initialize", params };
    const [direct, through] = [await exchange(server.url, { body }), await exchange(freshet.url(), { body })];
    const dataOf = ({ text }) => text.split("\n").filter((line) => /"capabilities"/.test(line));
    assert.deepEqual(dataOf(through), dataOf(direct));
  });
});
