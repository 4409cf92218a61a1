// `freshet demo`: what the quickstart shows.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Child } from "./support/child.mjs";
import { borrow } from "./support/fixture.mjs";
import { binary, runFreshet, withoutOurs } from "./support/freshet.mjs";

const addresses = ["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"];
const TOLD = /^\d\d:\d\d:\d\d +(deploy:\/\/\w+) +(.+) -> (.+?) +(\d+) ms +(\d+) ms$/;

describe("the demo", { concurrency: 3 }, () => {
  test("tells a client of the changes of a server that cannot, and ends with 0", async () => {
    const { code, output } = await runFreshet(["demo", "--for", "20s", ...addresses], { ms: 60_000 });
    assert.equal(code, 0, output);
    const told = output.split("\n").map((line) => line.match(TOLD)).filter(Boolean);
    assert.ok(told.length >= 2, output);
    for (const [line, , before, after, lag, bound] of told) {
      assert.notEqual(before, after, line);
      // Half a second for the way and a busy machine.
      assert.ok(Number(lag) <= Number(bound) + 500, line);
    }
    const [, count] = output.match(/told: (\d+)/);
    assert.equal(Number(count), told.length, output);
  });

  test("says where to look, and what it looks like there", async (t) => {
    const own = borrow(t);
    const demo = await own(new Child(binary, ["demo", ...addresses], { env: withoutOurs }));
    const [, admin] = await demo.line(/^ +admin +(http:\/\/\S+)\//);
    await demo.line(TOLD);
    const status = await (await fetch(`${admin}/status`)).json();
    assert.equal(status.upstreams[0].name, "demo");
    assert.equal(status.upstreams[0].declared.strategy, "poll");
    assert.match(await (await fetch(`${admin}/metrics`)).text(), /^freshet_notifications_total\{.*\} [1-9]/m);
  });

  test("ends on Ctrl-C with 0 and a sum", async (t) => {
    const own = borrow(t);
    const demo = await own(new Child(binary, ["demo", ...addresses], { env: withoutOurs }));
    await demo.line(/first read/);
    assert.equal((await demo.stop("SIGINT")).code, 0);
    await demo.lines.find((line) => /reads that the server answered: \d+/.test(line), { ms: 5000, what: "the sum" });
  });

  test("refuses what it cannot do, and says why", async () => {
    const wrong = [["--for", "soon"], ["--upstream", "http://127.0.0.1:1/mcp"], ["--interval", "often"]];
    for (const args of wrong) {
      const { code, output } = await runFreshet(["demo", ...addresses, ...args]);
      assert.equal(code, 2, output);
      assert.ok(output.includes(args[0]), output);
    }
  });
});
