import { type JsonValue, type Outcome, type Refused, statusOf } from "../domain/index.ts";
import type { RequestContext } from "./request-context.ts";

/** What goes over the wire. */
export interface CallbackResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text (SPEC 2.5). */
  readonly body: string;
  /** What the text was made of, where it is still at hand. */
  readonly value?: JsonValue;
}

const RETRY_SOON_SECONDS = 5;

/**
 * The one table from outcome to answer (SPEC 4.1, 7).
 * @param challenge RFC 9110 §11.6.1: what a 401 says would be accepted
 */
export function responseTo(outcome: Outcome, challenge: string): CallbackResponse {
  const status = statusOf(outcome);
  switch (outcome.kind) {
    case "success":
      return jsonResponse(status, { status: "success", data: outcome.result });
    case "already_processed":
      return jsonResponse(status, { status: "already_processed" });
    case "refused":
      return jsonResponse(status, { error: outcome.message }, rejectionHeaders(outcome, status, challenge));
    case "failed":
      return jsonResponse(
        status,
        { error: status === 503 ? "temporarily unavailable" : "internal error" },
        status === 503 ? { "retry-after": String(RETRY_SOON_SECONDS) } : {},
      );
  }
}

function jsonResponse(
  status: number,
  body: JsonValue,
  headers: Record<string, string> = {},
): CallbackResponse {
  return { status, headers, body: JSON.stringify(body), value: body };
}

function rejectionHeaders(
  { retryAfterSeconds, allow = "POST" }: Refused,
  status: number,
  challenge: string,
): Record<string, string> {
  if (status === 401) return { "www-authenticate": challenge };
  if (status === 405) return { allow };
  if (status === 503) return { "retry-after": String(RETRY_SOON_SECONDS) };
  // The rest of a body that is not wanted is not read, so the connection cannot be used again.
  if (status === 413 || status === 415) return { connection: "close" };
  return retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
}

type Responding = Pick<RequestContext, "response" | "responseHeaders">;

/** Sends an answer, where the other side is still there. */
export function sendResponse(
  { response, responseHeaders }: Responding,
  { status, headers, body }: CallbackResponse,
): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(
    status,
    Object.assign(responseHeaders, {
      "content-type": "application/json; charset=utf-8",
      "content-length": String(Buffer.byteLength(body)),
      ...headers,
    }),
  );
  response.end(body);
}

/** The same to a request that is not authentic: it waits where many of them are responded to. */
export function respondInTurn(request: RequestContext, answer: CallbackResponse): void {
  const turn = request.turns.next(request.message.socket);
  // Its body is not kept meanwhile.
  const { response, responseHeaders } = request;
  if (turn === undefined) sendResponse(request, answer);
  else void turn.then(() => sendResponse({ response, responseHeaders }, answer));
}
