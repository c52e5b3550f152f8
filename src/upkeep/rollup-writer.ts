import { type Clock, type Log, OVERVIEW_RANGES, periodStart, type RollupCount } from "../domain/index.ts";
import type { RollupCounts } from "../observability/index.ts";
import type { Rollups } from "../store/index.ts";
import { createPoller } from "../system/index.ts";

/** While the database is away, an hour of them; what is older is left out of the overview. */
const MAX_PENDING = 720;

/**
 * Adds this process's counts of its callbacks to the table that all processes share. A count belongs to the minute in
 * which it is taken, also where the database takes it later. A count whose commit was not answered may be added twice:
 * an overview is no ledger.
 */
export function createRollupWriter(counts: RollupCounts, store: Rollups, clock: Clock, log: Log) {
  const pending: { readonly slot: number; readonly counts: readonly RollupCount[] }[] = [];
  let writing: Promise<void> | undefined;

  async function write(): Promise<void> {
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
      try {
        await store.add(new Date(next.slot * 1_000), next.counts);
      } catch (error) {
        pending.unshift(next);
        throw error;
      }
    }
  }

  /** Never rejects. */
  async function flush(): Promise<void> {
    const taken = counts.take();
    if (taken.length > 0)
      pending.push({ slot: periodStart(clock.now(), OVERVIEW_RANGES.hour.stepSeconds), counts: taken });
    if (pending.length > MAX_PENDING) pending.shift();
    writing ??= write()
      .catch((error: unknown) => log.debug({ err: error }, "storing callback counts failed; retrying"))
      .finally(() => {
        writing = undefined;
      });
    return writing;
  }

  const loop = createPoller(flush, () => {});
  return {
    start: loop.start,
    rounds: loop.rounds,
    flush,
    async stop(): Promise<void> {
      await loop.stop();
      await writing;
      await flush();
      if (pending.length > 0) log.warn({}, "the overview misses callbacks of the last minutes");
    },
  };
}
