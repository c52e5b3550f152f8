import type { CallbackLogRow, Outcome } from "../domain/index.ts";
import type { Mask } from "../observe/index.ts";
import { errorText, type Reception } from "../receive/index.ts";
import type { Answer } from "./answer.ts";
import type { Incoming } from "./incoming.ts";

/** The log row of one callback (SPEC 1.8), masked before it goes anywhere. */
export function logRow(
  request: Incoming,
  source: string | null,
  reception: Reception,
  answer: Answer,
  mask: Mask,
): CallbackLogRow {
  const { outcome, eventId = null, eventType = null, bodyJson } = reception;
  const { body } = request;
  const answered = Buffer.from(answer.body);
  const error = errorOf(outcome);
  return {
    requestId: request.requestId,
    receivedAt: request.receivedAt.toISOString(),
    source,
    eventId,
    eventType,
    method: request.method,
    url: mask.url(request.url),
    remoteAddress: request.address,
    requestHeaders: JSON.stringify(mask.headers(request.message.headersDistinct)),
    requestBody: mask.body(body, { isJson: bodyJson !== undefined }),
    outcome: "code" in outcome ? outcome.code : outcome.ending,
    responseStatus: answer.status,
    responseBody: mask.body(answered, { isJson: answer.value !== undefined }),
    processingMs: performance.now() - request.startedAt,
    error: error === null ? null : mask.text(error),
  };
}

function errorOf(outcome: Outcome): string | null {
  if (outcome.ending === "failed") return errorText(outcome.cause);
  if (outcome.ending === "refused") return `${outcome.code}: ${outcome.detail ?? outcome.message}`;
  return null;
}
