// Issue 6: the live page before 100,000 subscriptions that are really polled, each of a resource of its own.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { Child } from "../support/child.mjs";
import { borrow } from "../support/fixture.mjs";
import { binary, startFreshet } from "../support/freshet.mjs";
import { within } from "../support/until.mjs";
import { openBrowser, openPage } from "./browser.mjs";

const SESSIONS = 100;
const EACH = 1000;
const ALL = SESSIONS * EACH;
// What a viewer may wait for, and how long anybody else may be kept waiting meanwhile, on a machine that does much else.
const SEARCH_MS_MAX = 3000;
const HELD_MS_MAX = 250;
const ROWS_BYTES_MAX = 40_000;
const NEWS_BYTES_MAX = 10_000;

const tool = (name) => path.join(path.dirname(binary), "tests/bench", name);
const skip = existsSync(tool("bench_load")) ? false : `needs ${tool("bench_load")}`;

async function crowd(own) {
  const upstream = await own(new Child(tool("bench_upstream"), []));
  const [, port] = await upstream.line(/^port (\d+)$/);
  const unbounded = { rate: `${ALL}/s`, burst: ALL, poll_burst: ALL, concurrency: 256 };
  const config = {
    partners: [{ name: "acme", ...unbounded }],
    upstreams: [{ name: "notes", url: `http://127.0.0.1:${port}/mcp`, path: "/mcp", partner: "acme",
      freshness: { interval: "60s" }, connections: { max: 256 }, reads: { timeout: "2s" } }],
  };
  const freshet = await own(startFreshet({ config, interval: null }));
  const { port: proxy } = new URL(freshet.origin);
  const pid = freshet.child.process.pid;
  const load = await own(new Child(tool("bench_load"), ["--port", proxy, "--pid", String(pid), "subscriptions", "--count",
    String(SESSIONS), "--per-session", String(EACH), "--hold"]));
  await load.line(/"subscriptions":100000/, { ms: 60_000 });
  return { upstream, freshet };
}

/** What `work` returns, and the longest that a small question to the same loop had to wait meanwhile. */
async function heldWhile(freshet, work) {
  let working = true;
  let held = 0;
  const ask = async () => {
    while (working) {
      const asked = performance.now();
      await (await fetch(`${freshet.admin}/healthz`)).text();
      held = Math.max(held, performance.now() - asked);
    }
  };
  const asking = ask();
  try {
    return { result: await work(), held };
  } finally {
    working = false;
    await asking;
  }
}

describe("the live page before 100,000 subscriptions", { skip }, () => {
  test("is searched, turned, light, and keeps nobody waiting; a row turns amber when the upstream stalls", async (t) => {
    const own = borrow(t);
    const { upstream, freshet } = await crowd(own);
    const browser = await own(openBrowser(), (b) => b.close());
    const page = await own(openPage(browser, freshet.admin), (p) => p.close());
    const shows = (selector, pattern) => page.waitForFunction((s, p) =>
      new RegExp(p).test(document.querySelector(s)?.textContent ?? ""), { timeout: 20_000 }, selector, pattern);
    await shows("#matched", `^${ALL} of ${ALL}$`);
    await shows("#subscriptions tr .freshness", "updated \\d+ s ago");
    assert.equal((await page.$$("#subscriptions tr")).length, 50);

    const search = async (needle, found) => {
      const begun = performance.now();
      await page.$eval("#needle", (input) => (input.value = ""));
      await page.type("#needle", needle);
      await shows("#matched", `^${found} of ${ALL}$`);
      return performance.now() - begun;
    };
    const { result: waited, held } = await heldWhile(freshet, async () =>
      Math.max(await search("bench://42/", EACH), await search("bench://99/999", 1), await search("bench://7/99", 11)));
    t.diagnostic(`a search took ${waited.toFixed(0)} ms at most; meanwhile /healthz took ${held.toFixed(0)} ms at most`);
    assert.ok(waited < SEARCH_MS_MAX, `a search took ${waited} ms`);
    assert.ok(held < HELD_MS_MAX, `the loop was held for ${held} ms`);
    await shows("#subscriptions tr td", "^bench://7/99$");

    await search("bench://42/", EACH);
    for (const shown of ["51 to 100", "101 to 150"]) {
      await page.click("#next");
      await shows("#page", `^${shown}$`);
    }
    const last = await (await fetch(`${freshet.admin}/status?limit=50&offset=${ALL - 50}`)).json();
    assert.equal(last.subscriptions.items.length, 50);

    const rows = await (await fetch(`${freshet.admin}/status?limit=50`)).text();
    const news = await firstEvent(`${freshet.admin}/events`);
    t.diagnostic(`a page of rows weighs ${rows.length} bytes, the news of each second ${news.length}`);
    assert.ok(rows.length < ROWS_BYTES_MAX && news.length < NEWS_BYTES_MAX);

    upstream.signal("SIGSTOP");
    await own(upstream, (stopped) => stopped.signal("SIGCONT"));
    await page.waitForSelector("#subscriptions tr.late", { timeout: 30_000 });
    assert.deepEqual(page.complaints, []);
  });
});

async function firstEvent(url) {
  const aborting = new AbortController();
  const { body } = await fetch(url, { signal: aborting.signal });
  let text = "";
  const read = async () => {
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (text.includes("\n\n")) return text;
    }
    return assert.fail("the stream of events ended");
  };
  try {
    return await within(read(), 10_000, "an event");
  } finally {
    aborting.abort();
  }
}
