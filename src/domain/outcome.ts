import type { JsonObject } from "./event.ts";
import { FAULTS, type FaultCode } from "./faults.ts";

/** Every legal outcome of a callback. `receive/` has the one table that turns it into a response. */
export type Outcome =
  | AttemptOutcome
  | Ignored
  | Rejected
  /** The event is durable, and its platform need not wait for the handler (answer modes `after` and `within`). */
  | { readonly kind: "accepted" }
  /** The platform asked something of the address, such as whether we own it: there was no event. */
  | { readonly kind: "handshake" };

/** An outcome as its response shows it to a platform. */
export type ResponseOutcome = Exclude<Outcome, Rejected>;

/** How an attempt can end: of a callback's event, a retry or a replay. */
export type AttemptOutcome = Success | AlreadyProcessed | Refused | Failed;

/** The handler ran and its transaction committed. */
export interface Success {
  readonly kind: "success";
  readonly result: JsonObject;
  /** Set where it committed earlier, and the same response is given once more. */
  readonly isRepeated?: true;
}

/** A completed record exists; nothing ran. */
export interface AlreadyProcessed {
  readonly kind: "already_processed";
  /** The result of the first delivery; null where it was not read. */
  readonly result: JsonObject | null;
  /** False where another body came under the same id. */
  readonly isSameBody: boolean;
}

/** No handler receives events of this type, and the source ignores such types: nothing ran and nothing was recorded. */
export interface Ignored {
  readonly kind: "ignored";
}

/** The callback itself is at fault (4xx): asking again will not help, and nothing was changed. */
export interface Refused {
  readonly kind: "refused";
  readonly code: FaultCode;
  /** For the caller; says no more than any caller may know. */
  readonly message: string;
  /** For the log. */
  readonly detail?: string;
  readonly retryAfterSeconds?: number;
  /** The methods that are served, for a 405. */
  readonly allow?: string;
}

/** The schema, the handler or the contract said no to an authentic event, which is kept for a replay. */
export interface Rejected extends Pick<Refused, "code" | "message" | "detail"> {
  readonly kind: "rejected";
  /** Its platform gets the response of an accepted event, and 400 otherwise. */
  readonly isAccepted: boolean;
}

/** We are at fault (5xx): the platform may ask again; nothing of the handler's was kept. */
export interface Failed {
  readonly kind: "failed";
  readonly code: FaultCode;
  readonly cause: unknown;
  /** Kept for retries. Its platform gets the response of an accepted event: sent again, it would be another one. */
  readonly isKept?: true;
}

export function success(result: JsonObject): Success {
  return { kind: "success", result };
}

/** `message` and `detail` only where the outcome names a field or a cause. */
export function refused(code: FaultCode, details: { message?: string; detail?: string; allow?: string } = {}): Refused {
  return { kind: "refused", code, message: FAULTS[code].message, ...details };
}

export function failed(code: FaultCode, cause: unknown): Failed {
  return { kind: "failed", code, cause };
}

export function responseOutcome(outcome: Outcome): ResponseOutcome {
  if (outcome.kind === "failed" && outcome.isKept) return { kind: "accepted" };
  if (outcome.kind !== "rejected") return outcome;
  return outcome.isAccepted ? { kind: "accepted" } : refused(outcome.code, { message: outcome.message });
}

export function isRefused(value: object | string): value is Refused {
  return typeof value === "object" && "kind" in value && value.kind === "refused";
}

/** The name of an outcome in logs, metrics and traces. */
export type OutcomeName = ReturnType<typeof outcomeName>;

export function outcomeName(outcome: Outcome) {
  return "code" in outcome ? outcome.code : outcome.kind;
}

/** Outcomes of callbacks whose event was accepted, once its first attempt has failed or was rejected (decision 0119). */
export const AFTER_RESPONSE = ["accepted_failed", "accepted_rejected"] as const;
export type AfterResponse = (typeof AFTER_RESPONSE)[number];

/** The HTTP status of an outcome: 200, or its fault's (SPEC 7). */
export function statusOf(outcome: Outcome): number {
  const shown = responseOutcome(outcome);
  return "code" in shown ? FAULTS[shown.code].status : 200;
}
