import type { CallbackLogRow, Outcome } from "../domain/index.ts";
import type { Mask } from "../observe/index.ts";
import { errorText, type Reception } from "../receive/index.ts";
import type { Answer } from "./answer.ts";
import type { Incoming } from "./incoming.ts";

/** What a row is made of, beside the request. */
interface Ended {
  readonly source: string | null;
  readonly reception: Reception;
  readonly answer: Answer;
  /** From its arrival to its answer. */
  readonly processingMs: number;
  /** Of a long body that was hashed already. */
  readonly sha256?: string | undefined;
}

/** The log row of one callback (SPEC 1.8), masked before it goes anywhere. */
export function logRow(request: Incoming, ended: Ended, mask: Mask): CallbackLogRow {
  const { source, reception, answer, processingMs, sha256 } = ended;
  const { outcome, eventId = null, eventType = null, bodyJson } = reception;
  const error = errorOf(outcome);
  const isJson = bodyJson !== undefined;
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
    requestBody: mask.body(request.body, sha256 === undefined ? { isJson } : { isJson, sha256 }),
    outcome: "code" in outcome ? outcome.code : outcome.ending,
    responseStatus: answer.status,
    responseBody: mask.body(Buffer.from(answer.body), { isJson: answer.value !== undefined }),
    processingMs,
    error: error === null ? null : mask.text(error),
  };
}

function errorOf(outcome: Outcome): string | null {
  if (outcome.ending === "failed") return errorText(outcome.cause);
  if (outcome.ending === "refused") return `${outcome.code}: ${outcome.detail ?? outcome.message}`;
  return null;
}
