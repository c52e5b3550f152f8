import {
  type Clock,
  type FailedFirstAttempt,
  latencyBucket,
  MINUTE_MS,
  type Outcome,
  OVERVIEW_RANGES,
  outcomeName,
  periodStart,
  type RollupCount,
} from "../domain/index.ts";

export type RollupCounts = ReturnType<typeof createRollupCounts>;

/** A count of the minute that begins at `slot`, in seconds since the epoch. */
export interface MinuteCount extends RollupCount {
  readonly slot: number;
}

/** While the database is away, about a minute of failures at full load; later ones stay counted as handled. */
const MAX_FAILED = 10_000;

/** A process's counts of the callbacks that it answers, for the overview, until they are written down. */
export function createRollupCounts(clock: Clock) {
  let counts = new Map<string, MinuteCount & { count: number; highestMs: number; lastMs: number }>();
  let failed: FailedFirstAttempt[] = [];
  return {
    /** One answered callback, of the minute in which it came. @param source empty where it came to none */
    note(source: string, outcome: Outcome, ms: number): void {
      const lastMs = clock.now().getTime() - ms;
      const slot = periodStart(lastMs, OVERVIEW_RANGES.hour.stepSeconds);
      const [name, bucket] = [outcomeName(outcome), latencyBucket(ms)];
      const key = `${slot} ${name} ${bucket} ${source}`;
      const known = counts.get(key);
      if (known === undefined)
        counts.set(key, { slot, source, outcome: name, bucket, count: 1, highestMs: ms, lastMs });
      else {
        known.count += 1;
        known.highestMs = Math.max(known.highestMs, ms);
        known.lastMs = Math.max(known.lastMs, lastMs);
      }
    },
    /** The first attempt of an accepted event failed or was rejected. */
    noteFailed(attempt: FailedFirstAttempt): void {
      if (failed.length < MAX_FAILED) failed.push(attempt);
    },
    /** Returns the counts since the last call, and resets them. */
    take(): readonly MinuteCount[] {
      const taken = [...counts.values()].map(({ lastMs, ...count }) => {
        return { ...count, lastAt: new Date(lastMs).toISOString() };
      });
      counts = new Map();
      return taken;
    },
    takeFailed(): readonly FailedFirstAttempt[] {
      const taken = failed;
      failed = [];
      return taken;
    },
  };
}

/**
 * Counts omissions, and reports their number at most once a minute. The omissions of a flood must not flood the log in
 * turn. `close` reports what was not reported yet.
 */
export function createMinuteCounter(report: (count: number) => void) {
  let count = 0;
  let timer: NodeJS.Timeout | undefined;

  function close(): void {
    clearTimeout(timer);
    timer = undefined;
    if (count > 0) report(count);
    count = 0;
  }

  return {
    add(): void {
      count += 1;
      timer ??= setTimeout(close, MINUTE_MS).unref();
    },
    close,
  };
}
