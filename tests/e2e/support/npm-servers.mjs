// Real servers and gateways from npm, each as a process on loopback.
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Child } from "./child.mjs";

const modules = fileURLToPath(new URL("../node_modules/", import.meta.url));
const preload = new URL("./bind-loopback.mjs", import.meta.url).href;
const bin = (name) => path.join(modules, ".bin", name);
const everything = path.join(modules, "@modelcontextprotocol/server-everything/dist/index.js");
const memory = path.join(modules, "@modelcontextprotocol/server-memory/dist/index.js");

async function serve(script, args, { env = {}, port = 0, release } = {}) {
  const loopback = { NODE_OPTIONS: `--import=${preload}`, FRESHET_E2E_PORT: String(port) };
  const child = new Child(process.execPath, [script, ...args], { env: { ...loopback, ...env } });
  try {
    const [, bound] = await child.line(/^bound to (\d+)$/);
    const stop = async (signal = "SIGKILL") => {
      await child.stop(signal);
      await release?.();
    };
    return { child, port: Number(bound), url: `http://127.0.0.1:${bound}/mcp`, stop };
  } catch (error) {
    await child.stop("SIGKILL");
    throw error;
  }
}

/** Declares subscribe; is silent until its tool `toggle-subscriber-updates` was called in the session. */
export const startEverything = (options) => serve(everything, ["streamableHttp"], options);

/** One server-memory behind mcp-proxy: a write in one session is notified to the others that subscribed. */
export async function startMemoryBehindProxy() {
  const folder = await mkdtemp(path.join(os.tmpdir(), "freshet-memory-"));
  const env = { MEMORY_FILE_PATH: path.join(folder, "memory.jsonl") };
  const release = () => rm(folder, { recursive: true, force: true });
  const args = ["--server", "stream", "--host", "127.0.0.1", "--", process.execPath, memory];
  return serve(bin("mcp-proxy"), args, { env, release });
}

/** server-memory behind supergateway: a child for each session, so no session hears of another's writes. */
export async function startMemoryPerSession() {
  const folder = await mkdtemp(path.join(os.tmpdir(), "freshet-memory-"));
  const env = { MEMORY_FILE_PATH: path.join(folder, "memory.jsonl") };
  const release = () => rm(folder, { recursive: true, force: true });
  const stdio = `${process.execPath} ${memory}`;
  const args = ["--stdio", stdio, "--outputTransport", "streamableHttp", "--stateful"];
  return serve(bin("supergateway"), args, { env, release });
}

export const MEMORY_GRAPH = "memory://knowledge-graph";

export function remember(client, name) {
  const entities = [{ name, entityType: "note", observations: [] }];
  return client.callTool({ name: "create_entities", arguments: { entities } });
}
