import { FAULTS, type JsonObject, type JsonValue, type ResponseOutcome, statusOf } from "../../domain/index.ts";
import type { PlatformResponse } from "./contract.ts";

/** A response as data: an object is sent as JSON, a text as text/plain unless `type` says otherwise. Default: empty. */
export interface FixedResponse {
  /** Default 200, and 204 needs no body. */
  readonly status?: number;
  readonly body?: string | JsonObject | JsonValue[];
  /** The media type, such as `text/xml; charset=utf-8`. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Made for each outcome where it must be signed or encrypted (Antom, DingTalk). It must not throw. */
export type ResponseMaker = (outcome: ResponseOutcome) => PlatformResponse;

/** Refusals and failures keep their status, so that the platform sees what to deliver again. */
type FixedError = Omit<FixedResponse, "status">;

/** The responses that a platform expects, by outcome. One without an entry has the common JSON. */
export interface Responses {
  /** A callback that is accepted, a duplicate or ignored, where these have no entry of their own. */
  readonly received?: FixedResponse | ResponseMaker;
  readonly success?: FixedResponse | ResponseMaker;
  /** The event has a record already. */
  readonly duplicate?: FixedResponse | ResponseMaker;
  /** No handler is for the type. */
  readonly ignored?: FixedResponse | ResponseMaker;
  readonly refused?: FixedError | ResponseMaker;
  readonly failed?: FixedError | ResponseMaker;
  /** 429 and 503; default as refused and failed. */
  readonly busy?: FixedError | ResponseMaker;
  /** Another status for an error of ours, where the platform documents it: `{ 400: 406 }`. */
  readonly statuses?: Readonly<Record<number, number>>;
}

/** The entry of each outcome. A handshake makes its own response. */
const ENTRIES = {
  success: "success",
  already_processed: "duplicate",
  accepted: "success",
  ignored: "ignored",
  handshake: "success",
  refused: "refused",
  failed: "failed",
} as const satisfies Record<ResponseOutcome["kind"], keyof Responses>;

const BUSY = [429, 503];

/**
 * @returns the response that the platform wants, undefined for the common one. Its headers are added to those of the
 * common one: `WWW-Authenticate`, `Allow` and `Retry-After` stay.
 */
export function createResponder({ statuses = {}, ...entries }: Responses) {
  return (outcome: ResponseOutcome): PlatformResponse | undefined => {
    const ownStatus = statusOf(outcome);
    const busy = BUSY.includes(ownStatus) ? entries.busy : undefined;
    const entry = busy ?? entries[ENTRIES[outcome.kind]] ?? ("code" in outcome ? undefined : entries.received);
    if (typeof entry === "function") return entry(outcome);
    const other = "code" in outcome ? statuses[ownStatus] : undefined;
    if (entry !== undefined) return fixedResponse({ status: other ?? ownStatus, ...entry });
    return other === undefined ? undefined : fixedResponse({ status: other, body: errorBody(outcome) });
  };
}

/** @returns the response with `nosniff`, so that no browser takes a text for HTML */
export function fixedResponse({ status = 200, body = "", type, headers }: FixedResponse): PlatformResponse {
  const isJson = typeof body === "object";
  const text = isJson ? JSON.stringify(body) : body;
  const media = type ?? (isJson ? "application/json; charset=utf-8" : "text/plain; charset=utf-8");
  const described: Record<string, string> = text === "" ? {} : { "content-type": media };
  return { status, headers: { ...described, "x-content-type-options": "nosniff", ...headers }, body: text };
}

/** SPEC 2.5. */
function errorBody(outcome: ResponseOutcome): JsonObject {
  if (outcome.kind === "refused") return { error: outcome.message };
  return outcome.kind === "failed" ? { error: FAULTS[outcome.code].message } : {};
}
