// Medians of the rounds, ratios to nginx (each of one round, then their median), and what was aimed at.
import os from "node:os";

const KIB_PER_MIB = 1024;
const US_PER_MS = 1000;

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function matching(samples, labels) {
  return samples.filter((sample) => Object.entries(labels).every(([name, value]) => sample[name] === value));
}

function medianOf(samples, labels, figure) {
  return median(matching(samples, labels).map((sample) => sample[figure]));
}

/** Over the rounds that have both. */
function ratio(samples, labels, figure, to = "nginx") {
  const ratios = matching(samples, labels).flatMap((sample) =>
    matching(samples, { ...labels, target: to, round: sample.round }).map((other) => sample[figure] / other[figure]));
  return median(ratios);
}

function calls(samples, size) {
  if (matching(samples, { what: "calls" }).length === 0) return [];
  return size.connections.flatMap((connections) => ["direct", "nginx", "freshet"].map((target) => {
    const labels = { what: "calls", connections, target };
    const of = (figure) => medianOf(samples, labels, figure);
    const cpu = target === "direct" ? undefined : of("cpu_us_per_request");
    return {
      connections, target, per_second: of("per_second"), p50_us: of("p50_us"), p99_us: of("p99_us"),
      cpu_us_per_request: cpu, per_core_second: cpu === undefined ? undefined : 1e6 / cpu,
      to_nginx: {
        per_second: ratio(samples, labels, "per_second"), p50: ratio(samples, labels, "p50_us"),
        p99: ratio(samples, labels, "p99_us"),
        per_core: cpu === undefined ? undefined : 1 / ratio(samples, labels, "cpu_us_per_request"),
      },
    };
  }));
}

function relays(samples) {
  const methods = [...new Set(matching(samples, { what: "relay" }).map((sample) => sample.method))];
  return methods.flatMap((method) => ["direct", "nginx", "freshet"].map((target) => {
    const of = (figure, whose = target) => medianOf(samples, { what: "relay", method, target: whose }, figure);
    return { method, target, p50_us: of("p50_us"), p99_us: of("p99_us"), added_p50_us: of("p50_us") - of("p50_us", "direct") };
  }));
}

function verdict({ is, at_most = Infinity, at_least = -Infinity }) {
  if (!Number.isFinite(is)) return "not measured";
  return is <= at_most && is >= at_least ? "met" : "MISSED";
}

function targets(calls, memory, listens) {
  const freshet = (connections) => calls.find((row) => row.target === "freshet" && row.connections === connections);
  const own = memory.streams.find((sample) => !sample.upstreamStreams);
  const relayed = memory.streams.find((sample) => sample.upstreamStreams);
  return [
    { what: "p50 at 1 connection, to nginx's", is: freshet(1)?.to_nginx.p50, at_most: 1.25 },
    { what: "throughput per core at 16 connections, to nginx's", is: freshet(16)?.to_nginx.per_core, at_least: 0.6 },
    { what: "throughput per core at 64 connections, to nginx's", is: freshet(64)?.to_nginx.per_core, at_least: 0.6 },
    { what: "KiB per idle stream, upstream without streams", is: own?.kib_each, at_most: 24 },
    { what: "KiB per idle stream, each with one from upstream", is: relayed?.kib_each, at_most: 24 },
    { what: "KiB per polled subscription", is: memory.subscriptions?.kib_each, at_most: 1 },
    { what: "KiB per listen stream", is: listens?.kib_each, at_most: 24 },
    { what: "ms from the upstream's answer to its last listener, p99", is: listens?.p99_us / US_PER_MS, at_most: 50 },
    { what: "MiB grown over the last nine tenths of the requests", is: memory.steadiness?.grown_kib / KIB_PER_MIB, at_most: 1 },
  ].map((target) => ({ ...target, verdict: verdict(target) }));
}

export function summarise(samples, size) {
  const memory = {
    streams: matching(samples, { what: "streams" }),
    subscriptions: matching(samples, { what: "subscriptions" })[0],
    steadiness: matching(samples, { what: "steadiness" })[0],
  };
  const listens = matching(samples, { what: "listens" })[0];
  const rows = calls(samples, size);
  return { rounds: size.rounds, processors: os.cpus().length, load_average: os.loadavg(), calls: rows,
    relays: relays(samples), memory, listens, targets: targets(rows, memory, listens) };
}

const number = (value, digits = 0) => (Number.isFinite(value) ? value.toFixed(digits) : "-");

function table(head, rows) {
  const cells = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column].length)));
  return cells.map((row) => row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join("  "))
    .join("\n");
}

function listenReport({ streams, resources, changes, p50_us, p99_us, max_us, cpu_share }) {
  return `${streams} listen streams on ${resources} resources, ${changes} changes, from the upstream's answer to the last of ${
    Math.ceil(streams / resources)} subscribers: p50 ${number(p50_us)} us, p99 ${number(p99_us)} us, longest ${
    number(max_us)} us; ${number(100 * cpu_share)} % of a processor\n`;
}

export function report({ rounds, processors, load_average, calls, relays, memory, listens, targets }) {
  const callRows = calls.map((row) => [
    `${row.target}, ${row.connections}`, number(row.per_second), number(row.p50_us), number(row.p99_us),
    number(row.cpu_us_per_request, 1), number(row.per_core_second), number(row.to_nginx.per_second, 2),
    number(row.to_nginx.p50, 2), number(row.to_nginx.p99, 2), number(row.to_nginx.per_core, 2)]);
  const relayRows = relays.map((row) =>
    [`${row.target}, ${row.method}`, number(row.p50_us), number(row.p99_us), number(row.added_p50_us)]);
  const memoryRows = [
    ...memory.streams.map((one) =>
      [`idle stream${one.upstreamStreams ? " with one from upstream" : ""}`, String(one.streams), number(one.kib_each, 2)]),
    ...[memory.subscriptions].filter(Boolean)
      .map((one) => ["polled subscription", String(one.subscriptions), number(one.kib_each, 3)]),
    ...[listens].filter(Boolean).map((one) => ["listen stream", String(one.streams), number(one.kib_each, 2)])];
  const targetRows = targets.map((one) => [one.what, number(one.is, 2),
    one.at_most === undefined ? `at least ${one.at_least}` : `at most ${one.at_most}`, one.verdict]);
  return `1 KiB tools/call, medians of ${rounds} interleaved rounds; ${processors} processors, load average ${
    number(load_average[0], 1)} at the end

${table(["through, connections", "req/s", "p50 us", "p99 us", "CPU us/req", "req/CPU s", "req/s :nginx", "p50 :nginx",
    "p99 :nginx", "per core :nginx"], callRows)}

${table(["notification, through", "p50 us", "p99 us", "added p50 us"], relayRows)}

${table(["resident memory, freshet", "count", "KiB each"], memoryRows)}
${listens ? listenReport(listens) : ""}${memory.steadiness ? `after ${memory.steadiness.requests} requests: ${memory.steadiness.kib} KiB\n` : ""}
${table(["aimed at", "is", "target", ""], targetRows)}
`;
}
