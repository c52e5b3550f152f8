/** Counts by source and subject, until they are written down. */
export interface Counts<Subject> {
  add(source: string, subject: Subject, by?: number): void;
  /** What was counted since the last time; the counts begin anew. */
  take(): Counted<Subject>[];
}

export interface Counted<Subject> {
  readonly source: string;
  readonly subject: Subject;
  readonly count: number;
}

/** A subject is told from another as keys of a `Map` are. */
export function createCounts<Subject>(): Counts<Subject> {
  let sources = new Map<string, Map<Subject, number>>();
  return {
    add(source, subject, by = 1) {
      let subjects = sources.get(source);
      if (subjects === undefined) {
        subjects = new Map();
        sources.set(source, subjects);
      }
      subjects.set(subject, (subjects.get(subject) ?? 0) + by);
    },
    take() {
      const taken = [...sources].flatMap(([source, subjects]) =>
        [...subjects].map(([subject, count]) => ({ source, subject, count })),
      );
      sources = new Map();
      return taken;
    },
  };
}
