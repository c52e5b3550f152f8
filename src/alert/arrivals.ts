import { FAULTS, type Outcome } from "../domain/index.ts";
import type { Arrival } from "../store/index.ts";

/** What a process counts of the callbacks that it answers, until it is written down. */
export interface Arrivals {
  /** One answered callback of a source. */
  note(
    source: string,
    reception: { readonly outcome: Outcome; readonly eventId?: string; readonly eventType?: string },
  ): void;
  /** What was counted since the last time; the counts begin anew. */
  take(): Arrival[];
  /** Counts again what could not be written down. */
  putBack(arrivals: readonly Arrival[]): void;
}

/** The subjects besides event types, whose names begin with `TYPE`. */
export const AUTHENTIC = "authentic";
export const REFUSED = "refused";
export const TYPE = "type:";
/** That a process was there to be called, which is of no source. */
export const SERVING = { source: "", subject: "serving" };

/** @param types the only event types that are counted, so that nobody can make their number grow */
export function createArrivals(types: readonly string[]): Arrivals {
  const known = new Map(types.map((type) => [type, TYPE + type]));
  let sources = new Map<string, Map<string, number>>();

  function add(source: string, subject: string, count: number): void {
    let subjects = sources.get(source);
    if (subjects === undefined) {
      subjects = new Map();
      sources.set(source, subjects);
    }
    subjects.set(subject, (subjects.get(subject) ?? 0) + count);
  }

  return {
    note(source, { outcome, eventId, eventType }) {
      if (outcome.ending === "refused" && FAULTS[outcome.code].status === 401) add(source, REFUSED, 1);
      // An event has an id from here on only after its signature was found good.
      if (eventId === undefined) return;
      add(source, AUTHENTIC, 1);
      const subject = known.get(eventType ?? "");
      if (subject !== undefined) add(source, subject, 1);
    },
    take() {
      const taken = [...sources].flatMap(([source, subjects]) =>
        [...subjects].map(([subject, count]) => ({ source, subject, count })),
      );
      sources = new Map();
      return taken;
    },
    putBack(arrivals) {
      for (const { source, subject, count } of arrivals) add(source, subject, count);
    },
  };
}
