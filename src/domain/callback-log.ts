import type { Diagnosis } from "./diagnosis.ts";
import type { FaultCode } from "./faults.ts";

/** One row for each callback, masked (SPEC 1.8), in the store and as one line on standard output. */
export interface CallbackLogRow {
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
  readonly outcome: "success" | "already_processed" | FaultCode;
  readonly responseStatus: number;
  readonly responseBody: string;
  /** Milliseconds from arrival; for a success, to just before its COMMIT, which holds this row. */
  readonly processingMs: number;
  /** Message and stack of what went wrong, masked. */
  readonly error: string | null;
  /** Why it was not authentic, where that was looked into. */
  readonly diagnosis?: Diagnosis;
  /** Of a row that stands for callbacks without rows of their own. */
  readonly leftOut?: LeftOut;
}

/** Why callbacks have no row of their own, or a shortened line. */
export type LeftOutReason =
  /** More were refused in a minute than are logged. */
  | "rejected_bound"
  /** No callback address was called. */
  | "unknown_address"
  /** Too many rows wait for the database. */
  | "buffer_full"
  /** More bytes of refused bodies wait to be masked than may. */
  | "body_bound"
  /** Refused callbacks used up the bytes that they may take on standard output in a minute; their rows are whole. */
  | "output_bound";

/** What the bounds of the log have left out in a minute, of one reason and one outcome (SPEC 1.8, 7.3). */
export interface LeftOut {
  readonly reason: LeftOutReason;
  readonly count: number;
  /** From how many addresses; counted up to 1,000. */
  readonly addresses: number;
  /** ISO 8601: when the first of them arrived, and the last. */
  readonly first: string;
  readonly last: string;
}

/** What a row takes beside its texts. */
const ROW_BYTES = 200;

/** About how many bytes a row of the log takes in the store. */
export function logRowBytes(row: CallbackLogRow): number {
  const { method, url, requestHeaders, requestBody, responseBody, error } = row;
  let bytes = ROW_BYTES;
  for (const text of [method, url, requestHeaders, requestBody, responseBody, error ?? ""])
    bytes += Buffer.byteLength(text);
  return bytes;
}

/** Whether it belongs to no event, so that anybody may have caused it: such rows are bounded in number and bytes. */
export function isOfStranger({ eventId }: CallbackLogRow): boolean {
  return eventId === null;
}
