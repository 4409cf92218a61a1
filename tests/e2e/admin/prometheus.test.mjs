// Issue 6: what a real Prometheus makes of a running sidecar, and of the rules and the dashboard in deploy/.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Child, run } from "../support/child.mjs";
import { connectClient } from "../support/client.mjs";
import { borrow } from "../support/fixture.mjs";
import { startFreshet } from "../support/freshet.mjs";
import { SdkServer } from "../support/sdk-server.mjs";
import { until } from "../support/until.mjs";

const deploy = fileURLToPath(new URL("../../../deploy/", import.meta.url));
const golden = fileURLToPath(new URL("../../unit/metrics/metrics.golden", import.meta.url));
const promtool = (...args) => run("promtool", args, { cwd: path.join(deploy, "prometheus") });

test("promtool finds nothing to say about the rules and the configuration", async () => {
  for (const args of [["check", "rules", "rules.yml"], ["check", "config", "prometheus.yml"]]) {
    const { code, output } = await promtool(...args);
    assert.equal(code, 0, output);
  }
});

test("each alert fires for the one concerned, and for nobody else", async () => {
  const { code, output } = await promtool("test", "rules", "rules.test.yml");
  assert.equal(code, 0, output);
});

test("each alert has a test and a runbook", async () => {
  const text = (name) => readFile(path.join(deploy, "prometheus", name), "utf8");
  const [rules, tests, runbooks] = await Promise.all(["rules.yml", "rules.test.yml", "README.md"].map(text));
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
  assert.ok(alerts.length > 0);
  for (const alert of alerts) {
    assert.match(tests, new RegExp(`alertname: ${alert}\\n\\s+exp_alerts:`), `${alert} has no test that it fires`);
    assert.match(runbooks, new RegExp(`^## ${alert}$`, "m"), `${alert} has no runbook`);
    assert.ok(rules.includes(`README.md#${alert.toLowerCase()}`), `${alert} does not name its runbook`);
  }
});

async function startPrometheus(target) {
  const folder = await mkdtemp(path.join(os.tmpdir(), "freshet-prometheus-"));
  const config = {
    global: { scrape_interval: "200ms", evaluation_interval: "200ms" },
    rule_files: [path.join(deploy, "prometheus", "rules.yml")],
    scrape_configs: [{ job_name: "freshet", static_configs: [{ targets: [target] }] }],
  };
  await writeFile(path.join(folder, "prometheus.yml"), JSON.stringify(config));
  const child = new Child("prometheus", [`--config.file=${folder}/prometheus.yml`, `--storage.tsdb.path=${folder}/data`,
    "--web.listen-address=127.0.0.1:0"], {});
  const [, address] = await child.line(/Listening on" address=(\S+)/);
  const query = async (expression) => {
    const url = `http://${address}/api/v1/query?query=${encodeURIComponent(expression)}`;
    const answer = await (await fetch(url)).json();
    assert.equal(answer.status, "success", `${expression}: ${answer.error}`);
    return answer.data.result;
  };
  const stop = async () => {
    await child.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { query, stop };
}

async function scraped(t) {
  const own = borrow(t);
  const server = await own(SdkServer.start({ contents: { "note://a": "0" } }));
  const freshet = await own(startFreshet({ upstream: server.url, interval: "200ms" }));
  const prometheus = await own(startPrometheus(new URL(freshet.admin).host));
  const client = await own(connectClient(freshet.url()), (c) => c.close());
  await client.client.subscribeResource({ uri: "note://a" });
  server.set("note://a", "1");
  await client.updated("note://a");
  await until(async () => (await prometheus.query('sum(rate(freshet_polls_total[2s])) > 0')).length > 0, 20_000, "polls");
  return prometheus;
}

// The variables, as the dashboard's defaults would fill them in.
const filled = (expression) => expression.replaceAll("$__rate_interval", "5s").replaceAll(/\$(partner|upstream|job)/g, ".*");

test("each query of the dashboard is answered with data", async (t) => {
  const prometheus = await scraped(t);
  const { panels } = JSON.parse(await readFile(path.join(deploy, "grafana", "dashboard.json"), "utf8"));
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  assert.ok(expressions.length > 20);
  for (const expression of expressions) {
    assert.ok((await prometheus.query(filled(expression))).length > 0, `no data: ${expression}`);
  }
});

test("every recording rule has data", async (t) => {
  const prometheus = await scraped(t);
  const rules = await readFile(path.join(deploy, "prometheus", "rules.yml"), "utf8");
  for (const [, record] of rules.matchAll(/- record: (\S+)/g)) {
    await until(async () => (await prometheus.query(record)).length > 0, 20_000, record);
  }
});

test("Prometheus sees the documented metrics with their labels, and no others of ours", async (t) => {
  const prometheus = await scraped(t);
  const documented = new Map((await readFile(golden, "utf8")).trimEnd().split("\n").map((line) => {
    const [name, type, labels] = line.split("\t");
    return [name, { type, labels: labels === "" ? [] : labels.split(",").map((label) => label.split("=")[0]) }];
  }));
  const series = await prometheus.query('{job="freshet", __name__=~"freshet_.*|process_.*"}');
  const seen = new Set();
  for (const { metric: { __name__: full, job, instance, le, ...labels } } of series) {
    const name = documented.has(full) ? full : full.replace(/_(bucket|sum|count)$/, "");
    assert.ok(documented.has(name), `${full} is not documented`);
    assert.deepEqual(Object.keys(labels).sort(), documented.get(name).labels.toSorted(), full);
    seen.add(name);
  }
  assert.deepEqual([...documented.keys()].filter((name) => !seen.has(name)), []);
});
