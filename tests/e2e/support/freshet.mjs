import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Child, run } from "./child.mjs";
import { until } from "./until.mjs";

const root = fileURLToPath(new URL("../../../", import.meta.url));
export const binary = process.env.FRESHET_BIN ?? path.join(root, ".build/dev/freshet");

// The variables that steer this suite are not the sidecar's settings.
export const withoutOurs = Object.fromEntries(
  Object.keys(process.env).filter((name) => name.startsWith("FRESHET_")).map((name) => [name, undefined]));

/** A running sidecar: where it listens, what it logged, what its admin side says. */
export class Freshet {
  constructor(child, folder, addresses) {
    this.child = child;
    this.folder = folder;
    this.origin = `http://${addresses.address}`;
    this.admin = `http://${addresses.admin}`;
  }

  get log() {
    return this.child.lines;
  }

  url(at = "/mcp") {
    return new URL(at, this.origin).href;
  }

  async status() {
    return (await fetch(`${this.admin}/status`)).json();
  }

  async metrics() {
    return (await fetch(`${this.admin}/metrics`)).text();
  }

  /** The sum over all labels of one metric, 0 where it is absent. */
  async metric(name) {
    const samples = (await this.metrics()).split("\n").filter((line) => new RegExp(`^${name}(\\{|\\s)`).test(line));
    return samples.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  }

  metricReaches(name, holds, ms = 10_000) {
    return until(async () => holds(await this.metric(name)), ms, `${name} to reach its value`);
  }

  async stop(signal) {
    try {
      return await this.child.stop(signal);
    } finally {
      await rm(this.folder, { recursive: true, force: true });
    }
  }
}

/**
 * Starts the sidecar on free ports. `config` is written as a file (JSON is YAML), `args` are further flags, `env`
 * further variables. With a `config` the upstream stands in it, otherwise in `upstream`.
 */
export async function startFreshet({ upstream, config, args = [], env, interval = "1s" } = {}) {
  const folder = await mkdtemp(path.join(os.tmpdir(), "freshet-e2e-"));
  const flags = ["--admin", "127.0.0.1:0"];
  if (!args.includes("--listen")) flags.push("--listen", "127.0.0.1:0");
  if (config) {
    const file = path.join(folder, "freshet.yaml");
    await writeFile(file, JSON.stringify(config, null, 2));
    flags.push("--config", file);
  }
  if (upstream) flags.push("--upstream", upstream);
  if (interval) flags.push("--interval", interval);
  const child = new Child(binary, [...flags, ...args], { env: { ...withoutOurs, ...env } });
  try {
    // As text or as a JSON object: address=127.0.0.1:1234 or "address":"127.0.0.1:1234".
    const [, address] = await child.line(/\blistening\b.*\baddress"?[=:]"?([^\s",]+)/);
    const [, admin] = await child.line(/\blistening\b.*\badmin"?[=:]"?([^\s",]+)/);
    return new Freshet(child, folder, { address, admin });
  } catch (error) {
    await child.stop("SIGKILL");
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Runs `freshet` with these arguments to its end; `files` (name to text) are laid in the folder it runs in. */
export async function runFreshet(args, { files = {}, env, ...options } = {}) {
  const cwd = await mkdtemp(path.join(os.tmpdir(), "freshet-e2e-"));
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(path.join(cwd, name), text);
    return await run(binary, args, { cwd, env: { ...withoutOurs, ...env }, ...options });
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}
