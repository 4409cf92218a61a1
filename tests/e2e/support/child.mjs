import { spawn } from "node:child_process";
import readline from "node:readline";
import { Journal, within } from "./until.mjs";

const START_MS = 20_000;
const STOP_MS = 15_000;

const running = new Set();
process.on("exit", () => {
  for (const child of running) child.signal("SIGKILL");
});

/** A child process whose output lines are a journal and whose end is a promise. */
export class Child {
  lines = new Journal();

  constructor(command, args, { env = {}, cwd } = {}) {
    this.name = [command, ...args].join(" ");
    const stdio = ["ignore", "pipe", "pipe"];
    // A group of its own, so that what a wrapper started ends with it.
    this.process = spawn(command, args, { env: { ...process.env, ...env }, cwd, stdio, detached: true });
    for (const stream of [this.process.stdout, this.process.stderr]) {
      readline.createInterface({ input: stream }).on("line", (line) => this.lines.push(line));
    }
    running.add(this);
    this.exited = new Promise((resolve) => {
      this.process.on("exit", (code, signal) => resolve({ code, signal }));
      this.process.on("error", (error) => resolve({ code: null, signal: null, error }));
    });
    this.exited.then(() => running.delete(this));
  }

  /** Waits for an output line and returns the match; fails at once if the process ends first. */
  async line(pattern, { from = 0, ms = START_MS } = {}) {
    const ended = this.exited.then((end) => {
      throw new Error(`${this.name} ended (${JSON.stringify(end)}) before ${pattern}:\n${this.tail()}`);
    });
    const matching = (line) => pattern.test(line);
    const what = () => `${pattern} from ${this.name}:\n${this.tail()}`;
    const found = await Promise.race([this.lines.find(matching, { from, ms, what }), ended]);
    return found.match(pattern);
  }

  tail(count = 20) {
    return this.lines.entries.slice(-count).join("\n");
  }

  signal(name) {
    if (!this.process.pid) return;
    try {
      process.kill(-this.process.pid, name);
    } catch (error) {
      if (error.code !== "ESRCH") throw error;
    }
  }

  /** Ends the process and its group; SIGKILL when it does not go. Returns how it ended. */
  async stop(signal = "SIGTERM", ms = STOP_MS) {
    this.signal(signal);
    try {
      return await within(this.exited, ms, `${this.name} to end on ${signal}`);
    } finally {
      this.signal("SIGKILL");
    }
  }
}

/** Runs a command to its end: its code and its output. */
export async function run(command, args, { ms = START_MS, ...options } = {}) {
  const child = new Child(command, args, options);
  try {
    const end = await within(child.exited, ms, () => `${child.name} to end:\n${child.tail()}`);
    return { ...end, output: child.lines.entries.join("\n") };
  } finally {
    child.signal("SIGKILL");
  }
}
