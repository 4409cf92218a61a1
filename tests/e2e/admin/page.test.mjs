// Issue 6: the live page, in a real browser.
import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { connectClient } from "../support/client.mjs";
import { borrow } from "../support/fixture.mjs";
import { startFreshet } from "../support/freshet.mjs";
import { SdkServer } from "../support/sdk-server.mjs";
import { openBrowser, openPage, seriousFindings, widths } from "./browser.mjs";

const resources = Array.from({ length: 120 }, (_, i) => `note://${String(i).padStart(3, "0")}`);
const token = "a-token-for-this-test";
// Set, the screenshots land there; they are for the README.
const screenshots = process.env.FRESHET_SCREENSHOTS;

describe("the live page", () => {
  let browser;
  before(async () => (browser = await openBrowser()));
  after(() => browser.close());

  async function world(t, options) {
    const own = borrow(t);
    const state = { stalls: false };
    const respond = (_request, _response, body) => state.stalls && body?.method === "resources/read";
    const contents = Object.fromEntries(resources.map((uri) => [uri, "one"]));
    const server = await own(SdkServer.start({ contents, respond }));
    const freshness = { interval: "2s" };
    const reads = { baseline_wait: "1s", timeout: "1s" };
    const upstreams = [{ name: "notes", url: server.url, path: "/mcp", partner: "acme", reads, freshness }];
    const partners = [{ name: "acme", rate: "100/s", burst: 100 }];
    const config = { admin: { token: "env:ADMIN_TOKEN" }, partners, upstreams };
    const freshet = await own(startFreshet({ config, interval: null, env: { ADMIN_TOKEN: token } }));
    const client = await own(connectClient(freshet.url()), (c) => c.close());
    await Promise.all(resources.map((uri) => client.client.subscribeResource({ uri })));
    const page = await own(openPage(browser, freshet.admin, options), (p) => p.close());
    return { state, server, freshet, client, page };
  }

  const text = (page, selector) => page.$eval(selector, (node) => node.textContent);
  const shows = (page, selector, pattern) =>
    page.waitForFunction((s, p) => new RegExp(p).test(document.querySelector(s)?.textContent ?? ""),
      { timeout: 20_000 }, selector, pattern);

  async function picture(page, name) {
    if (screenshots === undefined) return;
    await mkdir(screenshots, { recursive: true });
    await page.screenshot({ path: path.join(screenshots, `${name}.png`) });
  }

  for (const [width, viewport] of Object.entries(widths)) {
    for (const dark of [false, true]) {
      test(`shows what goes on, ${width}, ${dark ? "dark" : "light"}`, async (t) => {
        const { page } = await world(t, { viewport, dark });
        await shows(page, "#link", "live");
        await shows(page, "#partners .figure span", "^[1-9]");
        await shows(page, "#upstreams", "notes.*legacy.*resources.*poll");
        await shows(page, "#subscriptions tr .freshness", "updated \\d+ s ago");
        assert.equal((await page.$$("#subscriptions tr")).length, 50);
        // For the README: once the first reads are out of the figures.
        if (screenshots) await shows(page, "#partners .kinds .poll", "^[5-9]\\d");
        await picture(page, `page-${width}-${dark ? "dark" : "light"}`);
        assert.deepEqual(await seriousFindings(page), []);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
        assert.equal(wide, false, "the page scrolls sideways");
        assert.deepEqual(page.complaints, []);
      });
    }
  }

  test("figures change while clients work", async (t) => {
    const { client, page } = await world(t);
    await shows(page, "#partners .kinds .client", "^\\d");
    for (let i = 0; i < 40; i += 1) await client.client.listResources();
    await shows(page, "#partners .kinds .client", "^[1-9]");
  });

  test("is used by keyboard alone: search, and turn the page", async (t) => {
    const { page } = await world(t);
    await shows(page, "#matched", "120 of 120");
    const focused = () => page.evaluate(() => document.activeElement.id);
    for (let i = 0; i < 40 && (await focused()) !== "needle"; i += 1) await page.keyboard.press("Tab");
    assert.equal(await focused(), "needle");
    await page.keyboard.type("note://11");
    await shows(page, "#matched", "10 of 120");
    await shows(page, "#subscriptions tr td", "note://110");
    for (let i = 0; i < 9; i += 1) await page.keyboard.press("Backspace");
    await shows(page, "#matched", "120 of 120");
    await page.focus("#next");
    await page.keyboard.press("Enter");
    await shows(page, "#page", "51 to 100");
  });

  test("a row turns amber when its upstream stalls", async (t) => {
    const { state, page } = await world(t);
    await shows(page, "#subscriptions tr .freshness", "updated");
    state.stalls = true;
    await page.waitForSelector("#subscriptions tr.late", { timeout: 60_000 });
    await shows(page, "#upstreams", "failing");
    await shows(page, "#subscriptions tr.late .freshness", "its upstream fails");
    await picture(page, "page-stalled");
  });

  test("an operator pauses and resumes a partner, with the token and not without", async (t) => {
    const { freshet, page } = await world(t);
    await shows(page, "#partners button", "Pause");
    await page.click("#partners button");
    await shows(page, "#outcome", "needs the admin token");
    await page.type("#token", "wrong");
    await page.click("#partners button");
    await shows(page, "#outcome", "missing or wrong");
    await page.$eval("#token", (input) => (input.value = ""));
    await page.type("#token", token);
    await page.click("#partners button");
    await shows(page, "#partners .paused", "operator");
    await page.click("#partners button");
    await shows(page, "#partners button", "Pause");
    await shows(page, "#events", "operator action");
    assert.ok(freshet.log.entries.some((line) => line.includes("operator_action")));
    assert.equal(page.complaints.filter((line) => !line.includes("401")).length, 0);
  });

  test("says the same without script", async (t) => {
    const { page } = await world(t, { script: false });
    const shown = await text(page, "#server");
    for (const word of ["acme", "notes", "note://000", "120 of 120"]) assert.ok(shown.includes(word), word);
    assert.deepEqual(page.complaints, []);
  });
});
