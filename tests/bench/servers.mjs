// The processes that a run starts: each on free ports, pinned, and ended with the run whatever ends it.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { Child, run } from "../e2e/support/child.mjs";
import { until } from "../e2e/support/until.mjs";

const LOAD_MS_MAX = 600_000;
const env = { PATH: `${process.env.PATH}:/usr/sbin` };  // where Debian keeps nginx
const quiet = Object.fromEntries(
  Object.keys(process.env).filter((name) => name.startsWith("FRESHET_")).map((name) => [name, undefined]));

/** What this process may run on: the proxy gets the first, everything else the second. */
function processors() {
  const [, list] = readFileSync("/proc/self/status", "utf8").match(/^Cpus_allowed_list:\s*(\S+)$/m);
  return list.split(",").flatMap((range) => {
    const [first, last = first] = range.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

const [forProxy, forRest] = processors();

/** The kernel ends the command should this process be killed. Pinned where there are two processors to tell apart. */
function pinned(processor, command, args) {
  const where = forRest === undefined ? [] : ["taskset", "-c", String(processor)];
  const [program, ...rest] = ["setpriv", "--pdeathsig", "KILL", ...where, command, ...args];
  return [program, rest];
}

async function freePort() {
  const server = net.createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function accepts(port) {
  return new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false)).once("close", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

export function residentKib(pid) {
  return Number(readFileSync(`/proc/${pid}/status`, "utf8").match(/^VmRSS:\s+(\d+) kB$/m)[1]);
}

/** What one process may have open at once. */
export function descriptorsMax() {
  return Number(readFileSync("/proc/self/limits", "utf8").match(/^Max open files\s+\d+\s+(\d+)/m)?.[1] ?? Infinity);
}

export class Servers {
  #binaries;
  #folder = mkdtempSync(path.join(os.tmpdir(), "freshet-bench-"));
  #running = [];

  constructor(binaries) {
    this.#binaries = binaries;
  }

  removeFiles() {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Ends what runs, the last one first. */
  async stopAll() {
    for (const child of this.#running.splice(0).reverse()) await child.stop("SIGKILL");
  }

  async upstream(...flags) {
    const child = this.#start(forRest, path.join(this.#binaries, "tests/bench/bench_upstream"), flags);
    const [, port] = await child.line(/^port (\d+)$/);
    return { port: Number(port), pid: undefined };
  }

  async nginx(upstream) {
    const port = await freePort();
    const file = path.join(this.#folder, "nginx.conf");
    writeFileSync(file, nginxConfiguration(this.#folder, port, upstream.port));
    const child = this.#start(forProxy, "nginx", ["-p", this.#folder, "-c", file, "-e", "stderr"]);
    const ended = child.exited.then(() => { throw new Error(`nginx ended:\n${child.tail()}`); });
    await Promise.race([until(() => accepts(port), 10_000, "nginx to accept"), ended]);
    return { port, pid: child.process.pid };
  }

  /** `freshness`: how it polls; so rarely that no poll falls into a measurement where nothing is said. */
  async freshet(upstream, freshness = { interval: "1d", interval_max: "1d", watchdog_silence: "1h" }) {
    const file = path.join(this.#folder, "freshet.yaml");
    writeFileSync(file, JSON.stringify(freshetConfiguration(upstream.port, freshness), null, 2));
    const child = this.#start(forProxy, path.join(this.#binaries, "freshet"), ["--config", file]);
    const [, port] = await child.line(/\blistening\b.*\baddress=\S+:(\d+)/);
    const [, admin] = await child.line(/\blistening\b.*\badmin=(\S+:\d+)/);
    return { port: Number(port), pid: child.process.pid, admin: `http://${admin}` };
  }

  /** Runs bench_load on a proxy (or an upstream, which has no pid here) and returns what it measured. */
  async load(proxy, what, flags) {
    const of = ["--port", proxy.port, ...(proxy.pid ? ["--pid", proxy.pid] : [])];
    const args = [...of, what, ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value])];
    const command = pinned(forRest, path.join(this.#binaries, "tests/bench/bench_load"), args.map(String));
    const { code, output } = await run(...command, { ms: LOAD_MS_MAX, env });
    if (code !== 0) throw new Error(output);
    return JSON.parse(output);
  }

  #start(processor, command, args) {
    const child = new Child(...pinned(processor, command, args), { env: { ...env, ...quiet } });
    this.#running.push(child);
    return child;
  }
}

function nginxConfiguration(folder, port, upstreamPort) {
  const bodies = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return `daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log stderr error;
events { worker_connections 4096; }
http {
  access_log off;
  keepalive_requests 100000000;
  keepalive_timeout 1h;
  ${bodies.map((name) => `${name}_temp_path ${folder}/${name};`).join("\n  ")}
  upstream bench { server 127.0.0.1:${upstreamPort}; keepalive 64; keepalive_requests 100000000; keepalive_timeout 1h; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://bench;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 1h;
    }
  }
}
`;
}

/** Limits that no figure depends on are out of the way. */
function freshetConfiguration(upstreamPort, freshness) {
  return {
    listen: { address: "127.0.0.1:0" },
    admin: { address: "127.0.0.1:0" },
    streams: { keepalive_interval: "1h" },
    upstreams: [{
      name: "bench",
      url: `http://127.0.0.1:${upstreamPort}/mcp`,
      partner: "bench",
      notify_min_interval: "0s",
      freshness,
      connections: { max: 256, idle_time_max: "60s" },
    }],
    partners: [{ name: "bench", rate: "100000/s", burst: 100_000, poll_burst: 100_000, concurrency: 256 }],
  };
}
