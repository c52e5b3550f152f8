import { createSourceCounts, latencyBucket, type Outcome, type RollupCount } from "../domain/index.ts";

/** What a process counts of the callbacks that it answers, for the overview, until it is written down. */
export interface RollupCounts {
  /** One answered callback. @param source empty where it came to none */
  note(source: string, outcome: Outcome, ms: number): void;
  /** Returns the counts since the last call, and resets them. */
  take(): RollupCount[];
}

interface Subject {
  readonly outcome: string;
  readonly bucket: number;
}

export function createRollupCounts(): RollupCounts {
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
    note(source, outcome, ms) {
      const name = "code" in outcome ? outcome.code : outcome.kind;
      counts.add(source, subjectOf(name, latencyBucket(ms)));
    },
    take: () => counts.take().map(({ source, subject, count }) => ({ source, ...subject, count })),
  };
}

/** Counts what is left out, and tells the number some time later. */
interface MinuteCounter {
  add(): void;
  /** Tells what was not told yet. */
  close(): void;
}

const MINUTE_MS = 60_000;

/** Tells at most once a minute, so that what a flood leaves out of the log does not flood the log. */
export function createMinuteCounter(report: (count: number) => void): MinuteCounter {
  let count = 0;
  let timer: NodeJS.Timeout | undefined;

  function close(): void {
    clearTimeout(timer);
    timer = undefined;
    if (count > 0) report(count);
    count = 0;
  }

  return {
    add() {
      count += 1;
      timer ??= setTimeout(close, MINUTE_MS).unref();
    },
    close,
  };
}
