// What is measured, in which order. Each sample says of whom it is; what broke is kept as a failure.
import { Servers, descriptorsMax, residentKib } from "./servers.mjs";

export class Bench {
  passed = 0;
  failures = [];
  #servers;
  #size;

  constructor(binaries, size) {
    this.#servers = new Servers(binaries);
    this.#size = size;
  }

  removeFiles() {
    this.#servers.removeFiles();
  }

  static parts = {
    speed: (bench) => bench.#speed(),
    steadiness: (bench) => bench.#steadiness(),
    streams: (bench) => bench.#streams(),
    subscriptions: (bench) => bench.#subscriptions(),
    listens: (bench) => bench.#listens(),
  };

  async run(parts) {
    const samples = [];
    for (const part of parts) {
      try {
        samples.push(...(await Bench.parts[part](this)));
      } catch (error) {
        this.failures.push(error.message);
      } finally {
        await this.#servers.stopAll();
      }
    }
    return samples;
  }

  async #sample(labels, work) {
    const name = Object.values(labels).join(" ");
    process.stderr.write(`${name}\n`);
    try {
      const measured = await work();
      this.passed += 1;
      return [{ ...labels, ...measured }];
    } catch (error) {
      this.failures.push(`${name}: ${error.message}`);
      return [];
    }
  }

  // Every round begins with another one, so that none always comes after the same other.
  async #speed() {
    const upstream = await this.#servers.upstream("--subscribe", "--stream");
    const targets = Object.entries({
      direct: upstream,
      nginx: await this.#servers.nginx(upstream),
      freshet: await this.#servers.freshet(upstream),
    });
    const samples = [];
    for (let round = 0; round < this.#size.rounds; ++round) {
      const order = targets.map((_, i) => targets[(i + round) % targets.length]);
      for (const connections of this.#size.connections) {
        for (const [target, proxy] of order) samples.push(...(await this.#calls(target, proxy, connections, round)));
      }
      for (const [target, proxy] of order) samples.push(...(await this.#relay(target, proxy, upstream, round)));
    }
    return samples;
  }

  #calls(target, proxy, connections, round) {
    return this.#sample({ what: "calls", target, connections, round },
      () => this.#servers.load(proxy, "calls", { connections, seconds: this.#size.seconds }));
  }

  async #relay(target, proxy, upstream, round) {
    const samples = [];
    for (const method of ["notifications/message", "notifications/resources/updated"]) {
      const flags = { "upstream-port": upstream.port, count: this.#size.notifications, method };
      const labels = { what: "relay", method, target, round };
      samples.push(...(await this.#sample(labels, () => this.#servers.load(proxy, "relay", flags))));
    }
    return samples;
  }

  // The first tenth of the requests is when memory may still grow.
  async #steadiness() {
    const upstream = await this.#servers.upstream();
    const freshet = await this.#servers.freshet(upstream);
    const first = Math.round(this.#size.requests / 10);
    return this.#sample({ what: "steadiness", target: "freshet" }, async () => {
      await this.#servers.load(freshet, "calls", { connections: 16, requests: first });
      const before = residentKib(freshet.pid);
      await this.#servers.load(freshet, "calls", { connections: 16, requests: this.#size.requests - first });
      const after = residentKib(freshet.pid);
      return { requests: this.#size.requests, kib: after, grown_kib: after - before };
    });
  }

  async #streams() {
    const samples = [];
    const needed = 2 * this.#size.streams + 200;  // one to the client and one to the upstream, and what a process has
    if (descriptorsMax() < needed) throw new Error(`streams: ${needed} descriptors are needed, see ulimit -Hn`);
    for (const upstreamStreams of [false, true]) {
      const upstream = await this.#servers.upstream(...(upstreamStreams ? ["--stream"] : []));
      const freshet = await this.#servers.freshet(upstream);
      samples.push(...(await this.#sample({ what: "streams", target: "freshet", upstreamStreams },
        () => this.#servers.load(freshet, "streams", { count: this.#size.streams }))));
      await this.#servers.stopAll();
    }
    return samples;
  }

  async #subscriptions() {
    const upstream = await this.#servers.upstream();
    const freshet = await this.#servers.freshet(upstream);
    const { sessions, perSession } = this.#size;
    return this.#sample({ what: "subscriptions", target: "freshet" }, async () => {
      const measured = await this.#servers.load(freshet, "subscriptions", { count: sessions, "per-session": perSession });
      const active = await activePolled(freshet.admin);
      if (active !== sessions * perSession) throw new Error(`${active} of ${sessions * perSession} are polled and active`);
      return measured;
    });
  }

  // No credentials: one principal, so that the subscribers of a resource share its polls.
  async #listens() {
    const upstream = await this.#servers.upstream();
    const freshet = await this.#servers.freshet(upstream, { interval: "1s" });
    const { count, resources, changes } = this.#size.listens;
    return this.#sample({ what: "listens", target: "freshet" }, () =>
      this.#servers.load(freshet, "listens", { "upstream-port": upstream.port, count, resources, changes }));
  }
}

async function activePolled(admin) {
  const text = await (await fetch(`${admin}/metrics`)).text();
  return text.split("\n")
    .filter((line) => /^freshet_subscriptions\{/.test(line) && /strategy="poll"/.test(line) && /state="active"/.test(line))
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}
