import { createSourceCounts, latencyBucket, type Outcome, type RollupCount } from "../domain/index.ts";

export type RollupCounts = ReturnType<typeof createRollupCounts>;

interface Subject {
  readonly outcome: string;
  readonly bucket: number;
}

/** What a process counts of the callbacks that it answers, for the overview, until it is written down. */
export function createRollupCounts() {
  const counts = createSourceCounts<Subject>();
  /** One object for each, by which they are counted: nothing is made for a callback. */
  const subjects = new Map<string, Subject[]>();

  function subjectOf(outcome: string, bucket: number): Subject {
    let ofOutcome = subjects.get(outcome);
    if (ofOutcome === undefined) {
      ofOutcome = [];
      subjects.set(outcome, ofOutcome);
    }
    ofOutcome[bucket] ??= { outcome, bucket };
    return ofOutcome[bucket];
  }

  return {
    /** One answered callback. @param source empty where it came to none */
    note(source: string, outcome: Outcome, ms: number): void {
      const name = "code" in outcome ? outcome.code : outcome.kind;
      counts.add(source, subjectOf(name, latencyBucket(ms)));
    },
    /** Returns the counts since the last call, and resets them. */
    take: (): RollupCount[] =>
      counts.take().map(({ source, subject, count }) => ({ source, ...subject, count })),
  };
}

const MINUTE_MS = 60_000;

/**
 * Counts what is left out, and reports the number at most once a minute, so that what a flood leaves out of the log does not
 * flood the log. `close` reports what was not reported yet.
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
