import { FAULTS, type JsonValue, type Refused, type ResponseOutcome, statusOf } from "../domain/index.ts";
import type { RequestContext } from "./request-context.ts";

export interface CallbackResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** JSON text (SPEC 2.5). */
  readonly body: string;
  /** The value behind the text, where it is still at hand. */
  readonly value?: JsonValue;
}

const RETRY_SOON = { "retry-after": "5" };

/**
 * The one table from outcome to response (SPEC 4.1, 7).
 * @param challenge RFC 9110 §11.6.1: what a 401 says would be accepted
 */
export function responseTo(outcome: ResponseOutcome, challenge: string): CallbackResponse {
  const status = statusOf(outcome);
  switch (outcome.kind) {
    case "success":
      return jsonResponse(status, { status: "success", data: outcome.result });
    case "refused":
      return jsonResponse(status, { error: outcome.message }, refusalHeaders(outcome, status, challenge));
    case "failed":
      return jsonResponse(status, { error: FAULTS[outcome.code].message }, status === 503 ? RETRY_SOON : {});
    default:
      return jsonResponse(status, { status: outcome.kind });
  }
}

export function jsonResponse(status: number, body: JsonValue, headers: Record<string, string> = {}): CallbackResponse {
  return { status, headers, body: JSON.stringify(body), value: body };
}

function refusalHeaders(
  { retryAfterSeconds, allow = "POST" }: Refused,
  status: number,
  challenge: string,
): Record<string, string> {
  if (status === 401) return { "www-authenticate": challenge };
  if (status === 405) return { allow };
  if (status === 503) return RETRY_SOON;
  // The rest of a body that is not wanted is not always read, so the connection cannot be used again.
  if (status === 413 || status === 415) return { connection: "close" };
  return retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
}

export function sendResponse(
  { exchange, responseHeaders }: Pick<RequestContext, "exchange" | "responseHeaders">,
  { status, headers, body }: CallbackResponse,
): void {
  // RFC 9110 §8.6 and §15.3.5: neither a body nor its length.
  if (status === 204) return exchange.respond(status, Object.assign(responseHeaders, headers), "", false);
  const all = Object.assign(responseHeaders, {
    "content-type": "application/json; charset=utf-8",
    "content-length": String(Buffer.byteLength(body)),
    ...headers,
  });
  exchange.respond(status, all, body, headers.connection === "close");
}

/** Responds to an unauthentic request, in a later turn of the event loop where many come at once. */
export function respondThrottled(request: RequestContext, response: CallbackResponse): void {
  const { exchange, responseHeaders } = request;
  const waiting = exchange.waitUnverified?.();
  if (waiting === undefined) sendResponse(request, response);
  // Meanwhile nothing here holds the request's body.
  else void waiting.then(() => sendResponse({ exchange, responseHeaders }, response));
}
