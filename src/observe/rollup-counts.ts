import { bucketOf, createCounts, type Outcome, type RollupCount } from "../domain/index.ts";

/** What a process counts of the callbacks that it answers, for the overview, until it is written down. */
export interface RollupCounts {
  /** One answered callback. @param source empty where it came to none */
  note(source: string, outcome: Outcome, ms: number): void;
  /** What was counted since the last time; the counts begin anew. */
  take(): RollupCount[];
}

interface Subject {
  readonly outcome: string;
  readonly bucket: number;
}

export function createRollupCounts(): RollupCounts {
  const counts = createCounts<Subject>();
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
      const name = "code" in outcome ? outcome.code : outcome.ending;
      counts.add(source, subjectOf(name, bucketOf(ms)));
    },
    take: () => counts.take().map(({ source, subject, count }) => ({ source, ...subject, count })),
  };
}
