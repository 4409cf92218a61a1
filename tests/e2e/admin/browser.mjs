// Debian's Chromium, headless, with a record of what a page must not do.
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";
import puppeteer from "puppeteer-core";

const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
export const widths = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844, isMobile: true } };

export const openBrowser = () =>
  puppeteer.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"] });

/** A page at `url`, with what went wrong on it in `complaints`: console errors, and requests to other origins. */
export async function openPage(browser, url, { viewport = widths.desktop, script = true, dark = false } = {}) {
  const page = await browser.newPage();
  const complaints = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) complaints.push(`asked ${request.url()}`);
  });
  await page.setViewport(viewport);
  await page.setJavaScriptEnabled(script);
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }]);
  // The stream of events never ends, so there is no idle network to wait for.
  await page.goto(url, { waitUntil: "domcontentloaded" });
  return Object.assign(page, { complaints });
}

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** What axe-core finds that is serious or critical. Its script goes in through the debugger, past the page's policy. */
export async function seriousFindings(page) {
  await page.evaluate(await readFile(axe, "utf8"));
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`);
}
