import {
  type AFTER_RESPONSE,
  createSourceCounts,
  latencyBucket,
  MINUTE_MS,
  NO_LATENCY,
  type Outcome,
  outcomeName,
  type RollupCount,
} from "../domain/index.ts";

export type RollupCounts = ReturnType<typeof createRollupCounts>;

/** A process's counts of the callbacks that it answers, for the overview, until they are written down. */
export function createRollupCounts() {
  const counts = createSourceCounts();
  return {
    /** One answered callback. @param source empty where it came to none */
    note(source: string, outcome: Outcome, ms: number): void {
      counts.add(source, `${outcomeName(outcome)} ${latencyBucket(ms)}`);
    },
    /** The first attempt of an accepted event failed or was rejected. */
    noteAccepted(source: string, outcome: (typeof AFTER_RESPONSE)[number]): void {
      counts.add(source, `${outcome} ${NO_LATENCY}`);
    },
    /** Returns the counts since the last call, and resets them. */
    take: (): RollupCount[] =>
      counts.take().map(({ source, subject, count }) => {
        const [outcome = "", bucket] = subject.split(" ");
        return { source, outcome, bucket: Number(bucket), count };
      }),
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
