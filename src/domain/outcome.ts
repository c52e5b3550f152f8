import type { DiagnosisCode } from "./diagnoses.ts";
import type { FaultCode } from "./faults.ts";
import type { JsonObject } from "./json.ts";

/** Every legal ending of a callback. `http/` has the one table that turns it into an answer. */
export type Outcome = Success | AlreadyProcessed | Refused | Failed;

/** The handler ran and its transaction committed. */
export interface Success {
  readonly ending: "success";
  readonly result: JsonObject;
  /** Set where it committed earlier, and the same answer is given once more. */
  readonly isRepeated?: true;
}

/** A completed record exists; nothing ran. */
export interface AlreadyProcessed {
  readonly ending: "already_processed";
  /** What the first one was answered; null where that is not at hand. */
  readonly result: JsonObject | null;
  /** False where another body came under the same id. */
  readonly isSameBody: boolean;
}

/** The callback itself is at fault (4xx): asking again will not help, and nothing was changed. */
export interface Refused {
  readonly ending: "refused";
  readonly code: FaultCode;
  /** For the caller; says no more than a stranger may know. */
  readonly message: string;
  /** For the log. */
  readonly detail?: string;
  /** Where it is known at once why a request is not authentic, and more closely than `code` says. */
  readonly because?: DiagnosisCode;
  readonly retryAfterSeconds?: number;
  /** The methods that are served, for a 405. */
  readonly allow?: string;
}

/** We are at fault (5xx): the platform may ask again; nothing of the handler's was kept. */
export interface Failed {
  readonly ending: "failed";
  readonly code: FaultCode;
  readonly cause: unknown;
}
