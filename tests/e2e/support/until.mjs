// Waiting with a deadline. The one place of the suite that owns a timer: tests wait for events and conditions,
// never for time to pass.
const LOOK_AGAIN_MS = 10;

export class DeadlineError extends Error {}

/** Rejects with `what` unless `promise` settles within `ms`. */
export function within(promise, ms, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new DeadlineError(`not within ${ms} ms: ${describe(what)}`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Looks at `condition` (may be async) until it is truthy and returns its value. For state that has no event. */
export async function until(condition, ms, what) {
  let stopped = false;
  const look = async () => {
    while (!stopped) {
      const value = await condition();
      if (value) return value;
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    }
  };
  try {
    return await within(look(), ms, what);
  } finally {
    stopped = true;
  }
}

function describe(what) {
  return typeof what === "function" ? what() : what;
}

/** An append-only record whose readers can wait for the entry that they need. */
export class Journal {
  entries = [];
  #waiters = new Set();

  push(entry) {
    this.entries.push(entry);
    for (const wake of [...this.#waiters]) wake();
  }

  get length() {
    return this.entries.length;
  }

  count(matches) {
    return this.entries.filter(matches).length;
  }

  /** The first entry from index `from` that matches, present or to come. */
  find(matches, { from = 0, ms = 10_000, what = "a matching entry" } = {}) {
    return this.when(() => this.entries.slice(from).find(matches), ms, what);
  }

  /** Resolves as soon as `count` entries from index `from` match, with those entries. */
  async times(count, matches, { from = 0, ms = 15_000, what = "matching entries" } = {}) {
    const found = () => this.entries.slice(from).filter(matches);
    await this.when(() => found().length >= count, ms, () => `${count} of ${what}, saw ${found().length}`);
    return found().slice(0, count);
  }

  /** Resolves with the first truthy value of `condition`, which is evaluated after every entry. */
  when(condition, ms, what) {
    let wake;
    const seen = new Promise((resolve) => {
      wake = () => {
        const value = condition();
        if (value) resolve(value);
      };
      this.#waiters.add(wake);
      wake();
    });
    return within(seen, ms, what).finally(() => this.#waiters.delete(wake));
  }
}
