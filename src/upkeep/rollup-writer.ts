import { type Clock, type FailedFirstAttempt, type Log, MINUTE_MS } from "../domain/index.ts";
import type { MinuteCount, RollupCounts } from "../observability/index.ts";
import type { Rollups } from "../store/index.ts";
import { createPoller } from "../system/index.ts";

/** While the database is away, an hour of them; what is older is left out of the overview. */
const MAX_PENDING = 720;
/** The process that answered a callback stores its row within a second. */
const ROW_WITHIN_MS = MINUTE_MS;

interface FailedGroup {
  /** When they were taken, in milliseconds since the epoch. */
  readonly since: number;
  readonly attempts: readonly FailedFirstAttempt[];
}

interface RollupWriterOptions {
  readonly counts: RollupCounts;
  readonly store: Rollups;
  readonly clock: Clock;
  readonly log: Log;
  /** Stores the rows of callbacks that this process has answered; never rejects. */
  readonly storeLog: () => Promise<void>;
}

/**
 * Adds this process's counts of its callbacks to the table that all processes share. A count belongs to the minute in
 * which its callback came, also where the database takes it later. A count whose commit was not answered may be added
 * twice: an overview is no ledger.
 */
export function createRollupWriter({ counts, store, clock, log, storeLog }: RollupWriterOptions) {
  const pending: (readonly [slot: number, counts: readonly MinuteCount[]])[] = [];
  const failed: FailedGroup[] = [];
  let writing: Promise<void> | undefined;

  async function write(): Promise<void> {
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
      try {
        await store.add(new Date(next[0] * 1_000), next[1]);
      } catch (error) {
        pending.unshift(next);
        throw error;
      }
    }
    if (failed.length > 0) await writeFailed();
  }

  /** Those without a row wait for it. */
  async function writeFailed(): Promise<void> {
    await storeLog();
    const now = clock.now().getTime();
    const waiting: FailedGroup[] = [];
    try {
      for (let group = failed[0]; group !== undefined; group = failed[0]) {
        const attempts = await store.addFailed(group.attempts);
        failed.shift();
        if (attempts.length > 0 && now - group.since < ROW_WITHIN_MS) waiting.push({ ...group, attempts });
      }
    } finally {
      failed.push(...waiting);
    }
  }

  function take(): void {
    for (const group of Map.groupBy(counts.take(), ({ slot }) => slot)) pending.push(group);
    pending.splice(0, pending.length - MAX_PENDING);
    const attempts = counts.takeFailed();
    if (attempts.length > 0) failed.push({ since: clock.now().getTime(), attempts });
  }

  /** Never rejects. */
  async function flush(): Promise<void> {
    take();
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
