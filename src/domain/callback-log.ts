import type { Diagnosis } from "./diagnosis.ts";
import { FAULTS } from "./faults.ts";
import { AFTER_RESPONSE, type AfterResponse, type OutcomeName } from "./outcome.ts";

/** One row for each callback, masked (SPEC 1.8), in the store and as one line on standard output. */
export interface CallbackLogEntry {
  /** Also sent to the caller as `X-Request-Id`. */
  readonly requestId: string;
  /** ISO 8601, when the request arrived. */
  readonly receivedAt: string;
  readonly source: string | null;
  readonly eventId: string | null;
  /** In the store a callback without an event id has the type that it claims, unverified. */
  readonly eventType: string | null;
  readonly method: string;
  readonly url: string;
  readonly remoteAddress: string;
  /** A JSON object, name to value, masked. */
  readonly requestHeaders: string;
  /** The masked JSON text, or a note that says why there is none. */
  readonly requestBody: string;
  readonly outcome: OutcomeName | AfterResponse;
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

/** The row of a request that could not be read. */
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
  output_bound: "refused callbacks have a short line: more bytes than the bound in a minute. Their rows are whole",
} as const;

export type DropReason = keyof typeof DROP_REASONS;

/** Callbacks that the log's bounds left out in a minute, of one reason and one outcome (SPEC 1.8, 7.3). */
export interface DroppedCallbacks {
  readonly reason: DropReason;
  readonly count: number;
  /** From how many addresses; counted up to 1,000. */
  readonly addresses: number;
  /** ISO 8601: when the first of them arrived, and the last. */
  readonly first: string;
  readonly last: string;
}

/** The size of a row without its texts. */
const ENTRY_BYTES = 200;

/** About how many bytes a row of the log takes in the store. */
export function logEntryBytes(row: CallbackLogEntry): number {
  const { method, url, requestHeaders, requestBody, responseBody, error } = row;
  let bytes = ENTRY_BYTES;
  for (const text of [method, url, requestHeaders, requestBody, responseBody, error ?? ""])
    bytes += Buffer.byteLength(text);
  return bytes;
}

/** Whether it belongs to no event: any client may have caused it, so that such rows are bounded. */
export function isWithoutEvent({ eventId }: CallbackLogEntry): boolean {
  return eventId === null;
}

/** Selects rows of the callback log; an absent field matches every row. */
export interface CallbackFilter {
  /** ISO 8601 as `toISOString` spells it; callbacks that arrived then or later. */
  readonly from?: string | undefined;
  /** Callbacks that arrived before it. */
  readonly to?: string | undefined;
  readonly source?: string | undefined;
  /** Of a callback without an event: the type that it claims. */
  readonly eventType?: string | undefined;
  /** How the event type begins, such as `invoice.`. */
  readonly eventTypePrefix?: string | undefined;
  readonly eventId?: string | undefined;
  readonly remoteAddress?: string | undefined;
  /** Any of these. */
  readonly outcomes?: readonly string[] | undefined;
  /** HTTP statuses from the first to the last one, both included. */
  readonly statuses?: readonly [first: number, last: number] | undefined;
  /** A part of the masked body. The letters A to Z match a to z; every other character matches itself. */
  readonly text?: string | undefined;
  readonly anywhere?: Anywhere | undefined;
}

/** One or two parts of one column: the body, the URL, an id or the address. They are compared as `text` is. */
export interface Anywhere {
  readonly parts: readonly [first: string, second?: string | undefined];
  /** Whether the column may also be the headers. */
  readonly headers: boolean;
}

/** Every outcome that a row of the log can have. */
export const OUTCOMES: readonly string[] = [
  "success",
  "already_processed",
  "accepted",
  ...AFTER_RESPONSE,
  "ignored",
  "handshake",
  ...Object.keys(FAULTS),
];

/** Whether a filter selects a row, as the database decides it. */
export function matchesCallback(filter: CallbackFilter, row: CallbackLogEntry): boolean {
  const { from, to, source, eventType, eventTypePrefix, eventId, remoteAddress, outcomes, statuses, text } = filter;
  if (from !== undefined && row.receivedAt < from) return false;
  if (to !== undefined && row.receivedAt >= to) return false;
  if (source !== undefined && row.source !== source) return false;
  if (eventType !== undefined && row.eventType !== eventType) return false;
  if (eventTypePrefix !== undefined && row.eventType?.startsWith(eventTypePrefix) !== true) return false;
  if (eventId !== undefined && row.eventId !== eventId) return false;
  if (remoteAddress !== undefined && row.remoteAddress !== remoteAddress) return false;
  if (outcomes !== undefined && !outcomes.includes(row.outcome)) return false;
  if (statuses !== undefined && (row.responseStatus < statuses[0] || row.responseStatus > statuses[1])) return false;
  if (text !== undefined && !lowerAscii(row.requestBody).includes(lowerAscii(text))) return false;
  return filter.anywhere === undefined || isAnywhere(filter.anywhere, row);
}

function isAnywhere({ parts: [first, second = ""], headers }: Anywhere, row: CallbackLogEntry): boolean {
  const { requestBody, requestHeaders, url, requestId, eventId, remoteAddress } = row;
  const columns = [requestBody, url, requestId, eventId ?? "", remoteAddress];
  return (headers ? [...columns, requestHeaders] : columns).some((column) => {
    const text = lowerAscii(column);
    return text.includes(lowerAscii(first)) && text.includes(lowerAscii(second));
  });
}

/** Both databases fold only these letters, whatever their locale. */
export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/**
 * The outcomes of all rows that a filter can select, if all of them are rare; otherwise undefined. A partial index holds
 * such rows, since they are few.
 */
export function indexedOutcomes({ outcomes, statuses }: CallbackFilter): readonly string[] | undefined {
  if (statuses === undefined || statuses[0] < 400) return outcomes?.every(isRare) === true ? outcomes : undefined;
  return Object.entries(FAULTS)
    .filter(([, { status }]) => status >= statuses[0] && status <= statuses[1])
    .map(([code]) => code)
    .filter((code) => outcomes?.includes(code) !== false);
}

function isRare(outcome: string): boolean {
  return outcome in FAULTS || AFTER_RESPONSE.some((one) => one === outcome);
}
