import type { Diagnosis } from "./diagnosis.ts";
import { FAULTS } from "./faults.ts";
import type { OutcomeName } from "./outcome.ts";

/** One row for each callback, masked (SPEC 1.8), in the store and as one line on standard output. */
export interface CallbackLogEntry {
  /** Also sent to the caller as `X-Request-Id`. */
  readonly requestId: string;
  /** ISO 8601, when the request arrived. */
  readonly receivedAt: string;
  readonly source: string | null;
  readonly eventId: string | null;
  readonly eventType: string | null;
  readonly method: string;
  readonly url: string;
  readonly remoteAddress: string;
  /** A JSON object, name to value, masked. */
  readonly requestHeaders: string;
  /** The masked JSON text, or a note that says why there is none. */
  readonly requestBody: string;
  readonly outcome: OutcomeName;
  readonly responseStatus: number;
  readonly responseBody: string;
  /** Milliseconds from arrival; for a success, to just before its COMMIT, which holds this row. */
  readonly processingMs: number;
  /** Message and stack of what went wrong, masked. */
  readonly error: string | null;
  /** Why it was not authentic, where that was looked into. */
  readonly diagnosis?: Diagnosis;
  /** Of a row that stands for callbacks without rows of their own. */
  readonly leftOut?: DroppedCallbacks;
}

/** What a row says of a request of which nothing is known. */
export const UNKNOWN_REQUEST = {
  source: null,
  eventId: null,
  eventType: null,
  method: "",
  url: "",
  remoteAddress: "",
  requestHeaders: "{}",
  requestBody: "",
  responseBody: "",
  processingMs: 0,
} as const satisfies Partial<CallbackLogEntry>;

/** Why callbacks have no row of their own, or a shortened line. */
export const DROP_REASONS = {
  rejected_bound: "refused callbacks are not logged one by one: more than the bound in a minute",
  unknown_address: "requests came to addresses that are no callback addresses",
  buffer_full: "callbacks have a line but no row in the callback log: too many wait for the database",
  row_refused: "callbacks have a line but no row in the callback log: the database refused their rows",
  body_bound: "refused callbacks are not logged one by one: more bytes of their bodies wait than the bound",
  output_bound:
    "refused callbacks have a short line: more bytes than the bound in a minute. Their rows are whole",
} as const;

export type DropReason = keyof typeof DROP_REASONS;

/** What the bounds of the log have left out in a minute, of one reason and one outcome (SPEC 1.8, 7.3). */
export interface DroppedCallbacks {
  readonly reason: DropReason;
  readonly count: number;
  /** From how many addresses; counted up to 1,000. */
  readonly addresses: number;
  /** ISO 8601: when the first of them arrived, and the last. */
  readonly first: string;
  readonly last: string;
}

/** What a row takes beside its texts. */
const ENTRY_BYTES = 200;

/** About how many bytes a row of the log takes in the store. */
export function logEntryBytes(row: CallbackLogEntry): number {
  const { method, url, requestHeaders, requestBody, responseBody, error } = row;
  let bytes = ENTRY_BYTES;
  for (const text of [method, url, requestHeaders, requestBody, responseBody, error ?? ""])
    bytes += Buffer.byteLength(text);
  return bytes;
}

/** Whether it belongs to no event, so that any client may have caused it: such rows are bounded in number and bytes. */
export function isWithoutEvent({ eventId }: CallbackLogEntry): boolean {
  return eventId === null;
}

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
export const OUTCOMES: readonly string[] = [
  "success",
  "already_processed",
  "accepted",
  "ignored",
  "handshake",
  ...Object.keys(FAULTS),
];

/** The same verdict as the database's on a filter, on a row that is at hand. */
export function matchesCallback(filter: CallbackFilter, row: CallbackLogEntry): boolean {
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
export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/**
 * The outcomes among which every row of this filter is, where none of them is a success or a duplicate; undefined where there
 * may be one. Those rows have an index of their own, since they are few.
 */
export function indexedOutcomes({ outcomes, statuses }: CallbackFilter): readonly string[] | undefined {
  if (statuses === undefined || statuses[0] < 400)
    return outcomes?.every((outcome) => outcome in FAULTS) === true ? outcomes : undefined;
  return Object.entries(FAULTS)
    .filter(([, { status }]) => status >= statuses[0] && status <= statuses[1])
    .map(([code]) => code)
    .filter((code) => outcomes?.includes(code) !== false);
}
