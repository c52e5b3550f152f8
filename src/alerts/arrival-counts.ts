import { createSourceCounts, FAULTS, type FaultCode, type Outcome } from "../domain/index.ts";
import type { Arrival } from "../store/index.ts";

/** What a process counts of the callbacks that it answers, until it is written down. */
export interface ArrivalCounts {
  /** One answered callback of a source. */
  note(
    source: string,
    result: { readonly outcome: Outcome; readonly eventId?: string; readonly eventType?: string },
  ): void;
  /** What was counted since the last time; the counts begin anew. */
  take(): Arrival[];
  /** Counts again what could not be written down. */
  putBack(arrivals: readonly Arrival[]): void;
}

/** The subjects besides event types, whose names begin with `TYPE`. */
export const AUTHENTIC = "authentic";
export const REFUSED = "refused";
export const TYPE_PREFIX = "type:";
/** That a process was there to be called, which is of no source. */
export const SERVING = { source: "", subject: "serving" };

/** @param types the only event types that are counted, so that nobody can make their number grow */
export function createArrivalCounts(types: readonly string[]): ArrivalCounts {
  const known = new Map(types.map((type) => [type, TYPE_PREFIX + type]));
  const { add, take } = createSourceCounts<string>();

  return {
    note(source, { outcome, eventId, eventType }) {
      if (outcome.kind === "refused" && isUnauthentic(outcome.code)) add(source, REFUSED);
      // An event has an id from here on only after its signature was found good.
      if (eventId === undefined) return;
      add(source, AUTHENTIC);
      const subject = known.get(eventType ?? "");
      if (subject !== undefined) add(source, subject);
    },
    take,
    putBack(arrivals) {
      for (const { source, subject, count } of arrivals) add(source, subject, count);
    },
  };
}

/** The receiver's own check of an address is no sender's failure. */
function isUnauthentic(code: FaultCode): boolean {
  return code !== "endpoint_check" && FAULTS[code].status === 401;
}
