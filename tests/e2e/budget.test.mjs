// What a partner agreed to: rate, pauses, and whom they bind.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { borrow } from "./support/fixture.mjs";
import { startFreshet } from "./support/freshet.mjs";
import { BOUND_MS } from "./support/lag.mjs";
import { isPoll, SdkServer } from "./support/sdk-server.mjs";
import { messagesOf, Session } from "./support/session.mjs";

const A = "note://a";
const DEFAULT_BURST = 10;
const DEFAULT_RATE = 10;

async function setup(t, { server: serverOptions, ...options } = {}) {
  const own = borrow(t);
  const server = await own(SdkServer.start({ contents: { [A]: "one" }, ...serverOptions }));
  const freshet = await own(startFreshet({ upstream: server.url, ...options }));
  return { own, server, freshet };
}

describe("a partner's budget", { concurrency: 4 }, () => {
  const uris = Array.from({ length: 40 }, (_, index) => `note://n${index}`);
  const many = Object.fromEntries(uris.map((uri) => [uri, "x"]));

  test("is kept in every second, however much is subscribed to, and clients do not wait for polls", async (t) => {
    const { server, freshet } = await setup(t, { server: { contents: many }, interval: "200ms" });
    const session = await Session.open(freshet.url());
    const stream = await session.stream();
    t.after(() => stream.close());
    const subscribing = Promise.all(uris.map((uri) => session.subscribe(uri)));
    const ours = (entry) => entry.method === "resources/read" && typeof entry.id === "string";
    const reads = await server.requests.times(60, ours);
    const inSecondFrom = (index) => reads.slice(index).filter((read) => read.at < reads[index].at + 950).length;
    for (const index of reads.keys()) {
      // Baselines, which a client waits for, may use the burst; once it is spent, nothing exceeds the rate.
      const allowed = index < DEFAULT_BURST ? DEFAULT_RATE + DEFAULT_BURST : DEFAULT_RATE + 1;
      assert.ok(inSecondFrom(index) <= allowed, `${inSecondFrom(index)} reads within a second from read ${index}`);
    }
    for (const { result } of await subscribing) assert.deepEqual(result, {});
    const asked = performance.now();
    await session.request("tools/list");
    assert.ok(performance.now() - asked < 1000);
  });

  test("pauses on 429 until Retry-After", async (t) => {
    let refusing = false;
    const respond = (request, response, body) => {
      if (!refusing || body?.method !== "resources/read") return false;
      refusing = false;
      response.writeHead(429, { "Retry-After": "3", "Content-Length": "0" }).end();
      return true;
    };
    const { server, freshet } = await setup(t, { server: { respond }, interval: "200ms" });
    const session = await Session.open(freshet.url());
    const stream = await session.stream();
    t.after(() => stream.close());
    await session.subscribe(A);
    await server.requests.find(isPoll(A));
    const from = server.requests.length;
    refusing = true;
    const [refused, next] = await server.requests.times(2, isPoll(A), { from });
    const pause = next.at - refused.at;
    assert.ok(pause >= 2900, `the next poll came after ${pause} ms`);
    server.set(A, "two");
    await stream.updated(A, { ms: BOUND_MS });
  });

  test("limits clients only where enforce is all, and then with 429 and Retry-After", async (t) => {
    const own = borrow(t);
    const server = await own(SdkServer.start({ contents: { [A]: "one" } }));
    const upstreams = [{ name: "notes", url: server.url, partner: "them" }];
    const partners = [{ name: "them", rate: 1, burst: 5, enforce: "all" }];
    const freshet = await own(startFreshet({ config: { upstreams, partners } }));
    const session = await Session.open(freshet.url());
    const answers = await Promise.all(Array.from({ length: 20 }, (_, id) =>
      session.exchange({ jsonrpc: "2.0", id, method: "tools/list" })));
    const refused = answers.filter(({ status }) => status === 429);
    assert.ok(refused.length >= 10, `${refused.length} of 20 were refused`);
    assert.ok(refused.every(({ headers }) => Number(headers["retry-after"]) >= 1));
    const free = await own(startFreshet({ config: { upstreams, partners: [{ ...partners[0], enforce: "polls" }] } }));
    const other = await Session.open(free.url());
    const all = await Promise.all(Array.from({ length: 20 }, (_, id) =>
      other.exchange({ jsonrpc: "2.0", id, method: "tools/list" })));
    assert.ok(all.every((answer) => messagesOf(answer)[0].result));
  });
});
