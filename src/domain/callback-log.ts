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
}
