import type { CallbackLogRow } from "./callback-log.ts";
import { FAULTS } from "./faults.ts";

/** Which rows of the callback log are meant; what is left out does not matter. */
export interface CallbackFilter {
  /** ISO 8601 as `toISOString` spells it; callbacks that arrived then or later. */
  readonly from?: string;
  /** Callbacks that arrived before it. */
  readonly to?: string;
  readonly source?: string;
  readonly eventType?: string;
  readonly eventId?: string;
  readonly remoteAddress?: string;
  /** Any of these. */
  readonly outcomes?: readonly string[];
  /** HTTP statuses from the first to the last one, both included. */
  readonly statuses?: readonly [first: number, last: number];
  /** A part of the masked body. The letters A to Z are as good as a to z; every other character is itself alone. */
  readonly text?: string;
}

/** Every way a row of the log can say that its callback ended. */
export const OUTCOMES: readonly string[] = ["success", "already_processed", ...Object.keys(FAULTS)];

/** The same verdict as the database's on a filter, on a row that is at hand. */
export function matchesCallback(filter: CallbackFilter, row: CallbackLogRow): boolean {
  const { from, to, source, eventType, eventId, remoteAddress, outcomes, statuses, text } = filter;
  if (from !== undefined && row.receivedAt < from) return false;
  if (to !== undefined && row.receivedAt >= to) return false;
  if (source !== undefined && row.source !== source) return false;
  if (eventType !== undefined && row.eventType !== eventType) return false;
  if (eventId !== undefined && row.eventId !== eventId) return false;
  if (remoteAddress !== undefined && row.remoteAddress !== remoteAddress) return false;
  if (outcomes !== undefined && !outcomes.includes(row.outcome)) return false;
  if (statuses !== undefined && (row.responseStatus < statuses[0] || row.responseStatus > statuses[1]))
    return false;
  return text === undefined || lowerAscii(row.requestBody).includes(lowerAscii(text));
}

/** Both databases fold these letters alone, whatever their locale. */
function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/**
 * The outcomes among which every row of this filter is, where none of them is a success or a duplicate; undefined where there
 * may be one. Those rows have an index of their own, since they are few.
 */
export function rareOutcomes({ outcomes, statuses }: CallbackFilter): readonly string[] | undefined {
  if (statuses === undefined || statuses[0] < 400)
    return outcomes?.every((outcome) => outcome in FAULTS) === true ? outcomes : undefined;
  return Object.entries(FAULTS)
    .filter(([, { status }]) => status >= statuses[0] && status <= statuses[1])
    .map(([code]) => code)
    .filter((code) => outcomes?.includes(code) !== false);
}
