import type { ServerResponse } from "node:http";
import { type JsonValue, type Refused, type ResponseOutcome, statusOf } from "../domain/index.ts";
import type { RequestContext } from "./request-context.ts";

export interface CallbackResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  /** JSON text (SPEC 2.5). */
  readonly body: string;
  /** What the text was made of, where it is still at hand. */
  readonly value?: JsonValue;
}

const RETRY_SOON_SECONDS = 5;
/** How much of a body that is not wanted is read before its connection closes: more than the shipped proxies pass on. */
const LINGER = { bytes: 33_554_432, ms: 2_000 };

/**
 * The one table from outcome to response (SPEC 4.1, 7).
 * @param challenge RFC 9110 §11.6.1: what a 401 says would be accepted
 */
export function responseTo(outcome: ResponseOutcome, challenge: string): CallbackResponse {
  const status = statusOf(outcome);
  switch (outcome.kind) {
    case "accepted":
    case "ignored":
    case "handshake":
    case "already_processed":
      return jsonResponse(status, { status: outcome.kind });
    case "success":
      return jsonResponse(status, { status: "success", data: outcome.result });
    case "refused":
      return jsonResponse(status, { error: outcome.message }, refusalHeaders(outcome, status, challenge));
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

function refusalHeaders(
  { retryAfterSeconds, allow = "POST" }: Refused,
  status: number,
  challenge: string,
): Record<string, string> {
  if (status === 401) return { "www-authenticate": challenge };
  if (status === 405) return { allow };
  if (status === 503) return { "retry-after": String(RETRY_SOON_SECONDS) };
  // The rest of a body that is not wanted is not always read, so the connection cannot be used again.
  if (status === 413 || status === 415) return { connection: "close" };
  return retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
}

export function sendResponse(
  { response, responseHeaders }: Pick<RequestContext, "response" | "responseHeaders">,
  { status, headers, body }: CallbackResponse,
): void {
  if (response.headersSent || response.destroyed) return;
  // RFC 9110 §8.6 and §15.3.5: neither a body nor its length.
  if (status === 204) {
    response.writeHead(status, Object.assign(responseHeaders, headers)).end();
    return;
  }
  response.writeHead(
    status,
    Object.assign(responseHeaders, {
      "content-type": "application/json; charset=utf-8",
      "content-length": String(Buffer.byteLength(body)),
      ...headers,
    }),
  );
  if (headers.connection === "close" && !response.req.complete) endOnceRead(response, body);
  else response.end(body);
}

/**
 * Closing a connection over which bytes still arrive resets it, and the client, often a proxy, may lose the response
 * (RFC 9112 §9.6). The rest of the request is read first, within bounds, and dropped.
 */
function endOnceRead(response: ServerResponse, body: string): void {
  const { req: message } = response;
  let left = LINGER.bytes;
  const end = () => void response.end();
  const timer = setTimeout(end, LINGER.ms);
  response.on("close", () => clearTimeout(timer));
  response.write(body);
  message.on("end", end).on("data", ({ length }: Uint8Array) => {
    left -= length;
    if (left < 0) end();
  });
  message.resume();
}

/** Responds to a request that is not authentic: past a few of them, in a later turn of the event loop. */
export function respondInTurn(request: RequestContext, response: CallbackResponse): void {
  const turn = request.turns.next(request.message.socket);
  // The request's body is not kept meanwhile.
  const { response: serverResponse, responseHeaders } = request;
  if (turn === undefined) sendResponse(request, response);
  else void turn.then(() => sendResponse({ response: serverResponse, responseHeaders }, response));
}
