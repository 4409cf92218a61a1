// The configuration changes under way: on SIGHUP, and when its file changed.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { describe, test } from "node:test";
import { connectClient } from "./support/client.mjs";
import { borrow } from "./support/fixture.mjs";
import { runFreshet, startFreshet } from "./support/freshet.mjs";
import { isPoll, SdkServer } from "./support/sdk-server.mjs";
import { Session } from "./support/session.mjs";

const A = "note://a";
const B = "note://b";
const RELOADS = 1000;
const MIB = 1024 * 1024;

const text = (config) => JSON.stringify(config, null, 2);

function configFor(server, { freshness, upstream, ...rest } = {}) {
  const notes = { name: "notes", url: server.url, partner: "us", freshness: { interval: "1h", jitter: "0%", ...freshness } };
  return { upstreams: [{ ...notes, ...upstream }], partners: [{ name: "us", rate: "1000/s", burst: 1000 }], ...rest };
}

async function setup(t, options = {}) {
  const own = borrow(t);
  const server = await own(SdkServer.start({ contents: { [A]: "one", [B]: "b" } }));
  const config = configFor(server, options.config);
  const freshet = await own(startFreshet({ config, interval: null, env: options.env }));
  return { own, server, freshet, file: path.join(freshet.folder, "freshet.yaml") };
}

/** Puts the file in place whole. */
async function replace(file, contents) {
  await writeFile(`${file}.new`, contents);
  await rename(`${file}.new`, file);
}

const isReload = (line) => /\b(reloaded|reload_refused)\b/.test(line);

/** Replaces the file, asks for a reload, and resolves with the log line that says what became of it. */
async function reload({ freshet, file }, contents) {
  const from = freshet.log.length;
  await replace(file, contents);
  freshet.child.signal("SIGHUP");
  return freshet.log.find(isReload, { from, what: "the reload's end in the log" });
}

async function lastReload(freshet) {
  return (await freshet.status()).last_reload;
}

describe("a reload", { concurrency: 4 }, () => {
  test("on SIGHUP takes on a changed interval while a client listens", async (t) => {
    const world = await setup(t);
    const { server, freshet, own } = world;
    const client = await own(connectClient(freshet.url()), (one) => one.close());
    await client.client.subscribeResource({ uri: A });
    assert.equal(await lastReload(freshet), null);
    const line = await reload(world, text(configFor(server, { freshness: { interval: "300ms" } })));
    assert.match(line, /cause=SIGHUP.*changed=upstreams\[notes\]\.freshness\.interval/);
    server.set(A, "two");
    await client.updated(A);
    assert.equal(await client.text(A), "two");
    const { result, changed, errors } = await lastReload(freshet);
    assert.deepEqual([result, changed, errors], ["applied", ["upstreams[notes].freshness.interval"], []]);
    const { events } = await freshet.status();
    assert.ok(events.some(({ kind, detail }) => kind === "reloaded" && /freshness\.interval/.test(detail)));
  });

  test("with mistakes is refused with each of them and its place; what ran runs on", async (t) => {
    const world = await setup(t, { config: { freshness: { interval: "300ms" } } });
    const { server, freshet, own } = world;
    const session = await Session.open(freshet.url());
    const stream = await own(session.stream(), (open) => open.close());
    await session.subscribe(A);
    const wrong = text(configFor(server, { freshness: { interval: "soon" }, log: { levle: "debug" } }));
    assert.match(await reload(world, wrong), /reload_refused.*mistakes=2/);
    const mistakes = freshet.log.entries.filter((line) => line.includes("configuration_mistake"));
    assert.match(mistakes[0], /freshet\.yaml:\d+:\d+: upstreams\[0\]\.freshness\.interval/);
    assert.match(mistakes[1], /freshet\.yaml:\d+:\d+: log\.levle: unknown setting.*level/);
    const { result, errors } = await lastReload(freshet);
    assert.deepEqual([result, errors.length], ["refused", 2]);
    assert.equal(await freshet.metric("freshet_config_last_reload_successful"), 0);
    const { output } = await runFreshet(["status", "--admin", new URL(freshet.admin).host]);
    assert.match(output, /configuration: .* was refused: .*freshness\.interval/);
    server.set(A, "two");
    await stream.updated(A);
    assert.match(await reload(world, text(configFor(server))), / reloaded /);
    assert.equal(await freshet.metric("freshet_config_last_reload_successful"), 1);
  });

  test("that needs a restart is refused whole, and says what for", async (t) => {
    const world = await setup(t, { config: { freshness: { interval: "300ms" } } });
    const { server, freshet, own } = world;
    const session = await Session.open(freshet.url());
    await own(session.stream(), (open) => open.close());
    const next = configFor(server, { principal_headers: ["x-tenant"], upstream: { path: "/other" } });
    assert.match(await reload(world, text(next)), /reload_refused.*mistakes=2/);
    const { errors } = await lastReload(freshet);
    const inNeed = (setting) => `${setting}: changing it needs a restart`;
    assert.deepEqual(errors, ["principal_headers", "upstreams[notes].path"].map(inNeed));
    await session.subscribe(A);
    await server.requests.times(3, isPoll(A), { what: "polls at the interval that runs on" });
  });

  test("comes of itself when Kubernetes moves the link to a ConfigMap's folder", async (t) => {
    const own = borrow(t);
    const server = await own(SdkServer.start({ contents: { [A]: "one" } }));
    const folder = await own(mkdtemp(path.join(os.tmpdir(), "freshet-map-")), (one) => rm(one, { recursive: true }));
    const version = async (name, interval) => {
      await mkdir(path.join(folder, name));
      await writeFile(path.join(folder, name, "freshet.yaml"), text(configFor(server, { freshness: { interval } })));
      await symlink(name, path.join(folder, "..data_tmp"));
      await rename(path.join(folder, "..data_tmp"), path.join(folder, "..data"));
    };
    await version("..1", "2h");
    await symlink("..data/freshet.yaml", path.join(folder, "freshet.yaml"));
    const args = ["--config", path.join(folder, "freshet.yaml")];
    const freshet = await own(startFreshet({ args, interval: null }));
    const session = await Session.open(freshet.url());
    const stream = await own(session.stream(), (open) => open.close());
    await session.subscribe(A);
    await version("..2", "1s");
    assert.match(await freshet.log.find(isReload), /reloaded cause=file changed=upstreams\[notes\]\.freshness\.interval/);
    server.set(A, "two");
    await stream.updated(A);
  });

  test("without a file says so, and all goes on", async (t) => {
    const own = borrow(t);
    const server = await own(SdkServer.start({ contents: { [A]: "one" } }));
    const freshet = await own(startFreshet({ upstream: server.url }));
    const session = await Session.open(freshet.url());
    freshet.child.signal("SIGHUP");
    await freshet.log.find((line) => /configuration_mistake.*there is no file to read again/.test(line));
    assert.equal(await session.read(A), "one");
    assert.equal(await freshet.metric("freshet_config_reloads_total"), 1);
  });

  test("takes on headers for the upstream, the admin token and masked URIs", async (t) => {
    const env = { E2E_OLD: "old", E2E_NEW: "new" };
    const world = await setup(t, { env, config: { admin: { token: "env:E2E_OLD" } } });
    const { server, freshet } = world;
    const act = async (token) => {
      const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
      const body = JSON.stringify({ upstream: "notes" });
      return (await fetch(`${freshet.admin}/actions/refresh`, { method: "POST", headers, body })).status;
    };
    const session = await Session.open(freshet.url());
    await session.subscribe(A);
    assert.deepEqual([await act("old"), await act("new")], [200, 401]);
    const upstream = { headers_add: [{ name: "X-Key", value_from: "env:E2E_NEW" }] };
    const line = await reload(world, text(configFor(server, { upstream, admin: { token: "env:E2E_NEW", mask_uris: true } })));
    assert.match(line, /changed="admin\.token admin\.mask_uris upstreams\[notes\]\.headers_add"/);
    assert.deepEqual([await act("old"), await act("new")], [401, 200]);
    await session.request("tools/list");
    assert.equal(server.requests.entries.at(-1).headers["x-key"], "new");
    const [{ uri }] = (await freshet.status()).subscriptions.items;
    assert.match(uri, /^note:\/\/#[0-9a-f]+$/);
    assert.ok(!freshet.log.entries.some((entry) => /\bold\b|=new\b/.test(entry)));
  });

  test("that turns Freshet off lets sessions that began before go on as they began", async (t) => {
    const world = await setup(t, { config: { freshness: { interval: "300ms" } } });
    const { server, freshet, own } = world;
    const session = await Session.open(freshet.url());
    const stream = await own(session.stream(), (open) => open.close());
    await session.subscribe(A);
    const upstream = { mode: "off" };
    assert.match(await reload(world, text(configFor(server, { freshness: { interval: "300ms" }, upstream }))), /\.mode\b/);
    server.set(A, "two");
    await stream.updated(A);
    assert.ok((await session.unsubscribe(A)).result);
    const later = await Session.open(freshet.url());
    assert.equal(later.initialized.capabilities.resources.subscribe, undefined);
  });
});

/** Asks one thing after the other until told to stop; what fails fails the test. */
async function keepAsking(client, stopped) {
  let asked = 0;
  for (; !stopped.value; ++asked) {
    assert.equal(await client.text(B), "b");
    await client.client.callTool({ name: "count", arguments: { to: 2 } });
  }
  return asked;
}

test("a thousand reloads, good and bad by turns, drop no stream, fail no request and leave memory flat", async (t) => {
  const world = await setup(t, { config: { freshness: { interval: "200ms" } } });
  const { server, freshet, own } = world;
  const clients = [];
  for (let i = 0; i < 3; ++i) clients.push(await own(connectClient(freshet.url()), (one) => one.close()));
  const session = await Session.open(freshet.url());
  const stream = await own(session.stream(), (open) => open.close());
  await session.subscribe(A);
  let ended = false;
  stream.ended.then(() => (ended = true));

  const stopped = { value: false };
  const load = Promise.all(clients.map((client) => keepAsking(client, stopped)));
  load.catch(() => {});
  const next = (i) => {
    if (i % 2 === 1) return text(configFor(server, { freshness: { interval: "soon" } }));
    const interval = i % 4 === 0 ? "200ms" : "400ms";
    return text(configFor(server, { freshness: { interval }, limits: { sessions_max: 1000 + i } }));
  };
  const memory = async () => (await freshet.metric("process_resident_memory_bytes")) / MIB;
  let before;
  for (let i = 0; i < RELOADS; ++i) {
    if (i === RELOADS / 4) before = await memory();
    assert.match(await reload(world, next(i)), i % 2 === 1 ? /reload_refused/ : /reloaded/);
    if (i % 100 === 50) {
      const from = stream.events.length;
      server.set(A, `version ${i}`);
      await stream.updated(A, { from });
    }
  }
  const after = await memory();
  stopped.value = true;
  const asked = (await load).reduce((sum, count) => sum + count, 0);

  assert.equal(ended, false);
  assert.equal(await freshet.metric('freshet_config_reloads_total'), RELOADS);
  assert.ok(server.requests.count(isPoll(A)) > 0);
  t.diagnostic(`${asked} rounds of requests, memory ${before.toFixed(1)} -> ${after.toFixed(1)} MiB`);
  assert.ok(after - before < 4, `memory grew from ${before} to ${after} MiB`);
});
