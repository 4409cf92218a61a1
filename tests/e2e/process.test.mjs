// The process as its operator sees it: start, what it shows, what it logs, how it ends.
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { describe, test } from "node:test";
import { connectClient } from "./support/client.mjs";
import { borrow } from "./support/fixture.mjs";
import { runFreshet, startFreshet } from "./support/freshet.mjs";
import { BOUND_MS } from "./support/lag.mjs";
import { isPoll, SdkServer } from "./support/sdk-server.mjs";
import { exchange, Session } from "./support/session.mjs";
import { within } from "./support/until.mjs";

const A = "note://a";
const contents = { [A]: "one", "note://b": "b" };

async function setup(t, { server: serverOptions, ...options } = {}) {
  const own = borrow(t);
  const server = await own(SdkServer.start({ contents, ...serverOptions }));
  const freshet = await own(startFreshet({ upstream: server.url, ...options }));
  return { own, server, freshet };
}

describe("SIGTERM", { concurrency: 4 }, () => {
  test("ends it with 0, its streams cleanly, and nothing of it is left on the upstream", async (t) => {
    const { server, freshet } = await setup(t, { server: { subscribe: true } });
    const session = await Session.open(freshet.url());
    const stream = await session.stream();
    await session.subscribe(A);
    const end = freshet.stop("SIGTERM");
    await within(stream.ended, 5000, "the stream to end");
    assert.deepEqual(await end, { code: 0, signal: null });
    const gaveBack = ({ method, http, params, session: id }) =>
      id === session.id && (http === "DELETE" || (method === "resources/unsubscribe" && params.uri === A));
    assert.ok(server.requests.entries.some(gaveBack), "the upstream subscription was not given back");
  });

  test("lets a call in flight finish, and takes no new session meanwhile", async (t) => {
    const { server, freshet } = await setup(t);
    const { client } = await connectClient(freshet.url());
    const call = client.callTool({ name: "hang", arguments: {} });
    await server.requests.find(({ method }) => method === "tools/call");
    const end = freshet.stop("SIGTERM");
    await freshet.log.find((line) => /drain/i.test(line), { ms: 5000, what: "a log line on the drain" });
    const late = await Session.open(freshet.url()).then(({ id }) => id, () => undefined);
    assert.equal(late, undefined);
    server.release();
    assert.equal((await call).content[0].text, "released");
    assert.equal((await end).code, 0);
  });

  test("does not wait longer than drain_time_max", async (t) => {
    const { server, freshet } = await setup(t, { args: ["--drain-time-max", "500ms"] });
    const { client } = await connectClient(freshet.url());
    const call = client.callTool({ name: "hang", arguments: {} }).catch((error) => error);
    await server.requests.find(({ method }) => method === "tools/call");
    assert.equal((await within(freshet.stop("SIGTERM"), 5000, "the end")).code, 0);
    await client.close();
    assert.ok((await call) instanceof Error);
  });
});

describe("the log", () => {
  test("holds no credential at any level, wherever it travelled", async (t) => {
    const secrets = { bearer: "tok-4711-bearer", key: "tok-4711-key", cookie: "tok-4711-cookie",
      query: "tok-4711-query", added: "tok-4711-added" };
    const own = borrow(t);
    const server = await own(SdkServer.start({ contents }));
    const headersAdd = [{ name: "X-Upstream-Key", value_from: "env:E2E_UPSTREAM_KEY" }];
    const config = { upstreams: [{ name: "notes", url: server.url, headers_add: headersAdd }] };
    const freshet = await own(startFreshet({
      config, args: ["--log-level", "trace"], env: { E2E_UPSTREAM_KEY: secrets.added } }));
    const headers = { Authorization: `Bearer ${secrets.bearer}`, "X-Api-Key": secrets.key, Cookie: `s=${secrets.cookie}` };
    const session = await Session.open(`${freshet.url()}?api_key=${secrets.query}`, { headers });
    await session.subscribe(A);
    const poll = await server.requests.find(isPoll(A));
    assert.equal(poll.headers["x-upstream-key"], secrets.added);
    assert.equal(poll.headers.authorization, headers.Authorization);
    await session.delete();
    const shown = [JSON.stringify(await freshet.status()), await freshet.metrics()];
    await freshet.child.stop();
    const all = [...freshet.log.entries, ...shown].join("\n");
    assert.ok(freshet.log.length > 3, "trace logs more than the start");
    assert.doesNotMatch(all, /tok-4711/);
  });

  test("in JSON is one object a line", async (t) => {
    const { freshet } = await setup(t, { args: ["--log-format", "json"] });
    await Session.open(freshet.url());
    await freshet.child.stop();
    for (const line of freshet.log.entries) assert.equal(typeof JSON.parse(line), "object", line);
  });
});

describe("the admin side", { concurrency: 4 }, () => {
  test("is healthy and ready, and answers 404 to what it has not", async (t) => {
    const { freshet } = await setup(t);
    for (const at of ["/healthz", "/readyz"]) assert.equal((await fetch(freshet.admin + at)).status, 200);
    assert.equal((await fetch(`${freshet.admin}/nothing`)).status, 404);
  });

  test("shows a subscription with its strategy and bound, and its metrics move with it", async (t) => {
    const { server, freshet } = await setup(t);
    const session = await Session.open(freshet.url());
    const stream = await session.stream();
    t.after(() => stream.close());
    await session.subscribe(A);
    server.set(A, "two");
    await stream.updated(A, { ms: BOUND_MS });
    const status = JSON.stringify(await freshet.status());
    for (const shown of [A, "poll", "bound"]) assert.ok(status.includes(shown), `/status shows no ${shown}`);
    assert.equal(await freshet.metric("freshet_sessions"), 1);
    assert.equal(await freshet.metric("freshet_streams"), 1);
    assert.equal(await freshet.metric("freshet_subscriptions"), 1);
    assert.equal(await freshet.metric("freshet_notifications_total"), 1);
    assert.ok(await freshet.metric("freshet_polls_total") >= 1);
    assert.doesNotMatch(await freshet.metrics(), /note:\/\//, "a URI stands in a label");
  });

  test("counts nothing any more when all sessions ended", async (t) => {
    const { freshet } = await setup(t);
    const sessions = await Promise.all(Array.from({ length: 5 }, () => Session.open(freshet.url())));
    const streams = await Promise.all(sessions.map((session) => session.stream()));
    await Promise.all(sessions.flatMap((session) => [A, "note://b"].map((uri) => session.subscribe(uri))));
    assert.equal(await freshet.metric("freshet_subscriptions"), 10);
    await Promise.all(sessions.map((session) => session.delete()));
    await Promise.all(streams.map((stream) => within(stream.ended, 5000, "a stream to end")));
    for (const name of ["freshet_subscriptions", "freshet_sessions", "freshet_streams"]) {
      await freshet.metricReaches(name, (value) => value === 0);
    }
  });
});

describe("a wrong start", { concurrency: 4 }, () => {
  test("lists every mistake of a file with its place, and the nearest known key", async () => {
    const yaml = [
      "limits:", "  sesions_max: 3", "  subscriptions_max: many", "upstreams:", "  - url: nonsense",
      "    freshness: {interval: 1s, jitter: 7}", ""].join("\n");
    const files = { "bad.yaml": yaml };
    const { code, output } = await runFreshet(["check", "--config", "bad.yaml"], { files });
    assert.notEqual(code, 0);
    assert.match(output, /bad\.yaml:2:3: .*sesions_max.*sessions_max/);
    assert.match(output, /bad\.yaml:3:22: .*subscriptions_max/);
    assert.match(output, /bad\.yaml:5:10: .*url/);
    assert.match(output, /bad\.yaml:6:\d+: .*jitter/);
  });

  test("is told apart from a good file, which checks silently with 0 and starts nothing", async () => {
    const files = { "good.yaml": "upstreams:\n  - url: http://127.0.0.1:1/mcp\n" };
    const { code } = await runFreshet(["check", "--config", "good.yaml"], { files, ms: 5000 });
    assert.equal(code, 0);
  });

  test("without an upstream, with an unknown flag, or on a taken address ends with a reason", async (t) => {
    const { freshet } = await setup(t);
    const taken = new URL(freshet.origin).host;
    const upstream = ["--upstream", "http://127.0.0.1:1/mcp", "--admin", "127.0.0.1:0"];
    const wrong = [[[], /upstream/], [[...upstream, "--intervall", "1s"], /intervall/],
      [[...upstream, "--listen", taken], new RegExp(`${taken}|in use`)]];
    for (const [args, reason] of wrong) {
      const { code, output } = await runFreshet(args, { ms: 5000 });
      assert.notEqual(code, 0, output);
      assert.match(output, reason);
    }
  });

  test("never shows a secret that the file refers to", async () => {
    const yaml = "upstreams:\n  - url: http://127.0.0.1:1/mcp\n    headers_add:\n" +
      "      - {name: Authorization, value_from: env:E2E_SECRET, nonsense: 1}\n";
    const env = { E2E_SECRET: "tok-4711" };
    const { code, output } = await runFreshet(["check", "--config", "c.yaml"], { files: { "c.yaml": yaml }, env });
    assert.notEqual(code, 0);
    assert.doesNotMatch(output, /tok-4711/);
  });
});

test("several upstreams stand behind one sidecar, each at its path", async (t) => {
  const own = borrow(t);
  const [one, two] = [await own(SdkServer.start({ contents: { [A]: "1" } })), await own(SdkServer.start({ contents: { [A]: "2" } }))];
  const upstreams = [{ name: "one", url: one.url, path: "/one" }, { name: "two", url: two.url, path: "/two" }];
  const freshet = await own(startFreshet({ config: { upstreams } }));
  for (const [at, text] of [["/one", "1"], ["/two", "2"]]) {
    const session = await Session.open(freshet.url(at));
    assert.equal(await session.read(A), text);
  }
  assert.equal((await exchange(freshet.url("/three"), { body: {} })).status, 404);
});

test("a credential in a file is read again when it changes", async (t) => {
  const own = borrow(t);
  const folder = await own(mkdtemp(path.join(os.tmpdir(), "freshet-secret-")), (one) => rm(one, { recursive: true }));
  const file = path.join(folder, "token");
  await writeFile(file, "first\n");
  const server = await own(SdkServer.start({ contents }));
  const headersAdd = [{ name: "Authorization", prefix: "Bearer ", value_from: `file:${file}` }];
  const config = { upstreams: [{ name: "notes", url: server.url, headers_add: headersAdd }] };
  const freshet = await own(startFreshet({ config }));
  const session = await Session.open(freshet.url());
  const stream = await own(session.stream(), (open) => open.close());
  assert.equal(stream.status, 200);
  await session.subscribe(A);
  assert.ok(server.requests.entries.every(({ headers }) => headers.authorization === "Bearer first"));
  await writeFile(file, "second\n");
  await server.requests.find(({ id, headers }) => typeof id === "string" && headers.authorization === "Bearer second");
  await session.request("tools/list");
  assert.equal(server.requests.entries.at(-1).headers.authorization, "Bearer second");
});
