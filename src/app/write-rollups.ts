import { type Clock, type Log, type RollupCount, SPANS, slotOf } from "../domain/index.ts";
import { createLoop } from "../loop/index.ts";
import type { RollupCounts } from "../observe/index.ts";
import type { RollupStore } from "../store/index.ts";

/** Adds what this process has counted of its callbacks to the table that all processes share. */
export interface RollupWriter {
  start(intervalMs: number): void;
  /** Writes down what was counted until now; never rejects. */
  writeDown(): Promise<void>;
  /** The last counts go into the table too. */
  stop(): Promise<void>;
}

/** While the database is away, an hour of them; what is older is left out of the overview. */
const MOST_WAITING = 720;

interface Taken {
  readonly slot: number;
  readonly counts: readonly RollupCount[];
}

/**
 * What was counted belongs to the minute in which it is taken, also where the database takes it later. A count whose commit
 * was not answered may be added twice: an overview is no ledger.
 */
export function createRollupWriter(
  counts: RollupCounts,
  store: RollupStore,
  clock: Clock,
  log: Log,
): RollupWriter {
  const waiting: Taken[] = [];
  let writing: Promise<void> | undefined;

  function take(): void {
    const taken = counts.take();
    if (taken.length === 0) return;
    waiting.push({ slot: slotOf(clock.now(), SPANS.hour.stepSeconds), counts: taken });
    if (waiting.length > MOST_WAITING) waiting.shift();
  }

  async function write(): Promise<void> {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      try {
        await store.add(new Date(next.slot * 1_000), next.counts);
      } catch (error) {
        waiting.unshift(next);
        throw error;
      }
    }
  }

  async function writeDown(): Promise<void> {
    take();
    writing ??= write()
      .catch((error: unknown) =>
        log.debug({ err: error }, "what callbacks came to could not be counted; it is kept and tried again"),
      )
      .finally(() => {
        writing = undefined;
      });
    return writing;
  }

  const loop = createLoop(writeDown, () => {});
  return {
    start: loop.start,
    writeDown,
    async stop() {
      await loop.stop();
      await writing;
      await writeDown();
      if (waiting.length > 0) log.warn({}, "the callbacks of the last minutes are missing in the overview");
    },
  };
}
