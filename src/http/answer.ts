import { type JsonValue, type Outcome, type Refused, statusOf } from "../domain/index.ts";

/** What goes over the wire. */
export interface Answer {
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
export function answerTo(outcome: Outcome, challenge: string): Answer {
  const status = statusOf(outcome);
  switch (outcome.ending) {
    case "success":
      return answer(status, { status: "success", data: outcome.result });
    case "already_processed":
      return answer(status, { status: "already_processed" });
    case "refused":
      return answer(status, { error: outcome.message }, refusalHeaders(outcome, status, challenge));
    case "failed":
      return answer(
        status,
        { error: status === 503 ? "temporarily unavailable" : "internal error" },
        status === 503 ? { "retry-after": String(RETRY_SOON_SECONDS) } : {},
      );
  }
}

function answer(status: number, body: JsonValue, headers: Record<string, string> = {}): Answer {
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
  // The rest of a body that is not wanted is not read, so the connection cannot be used again.
  if (status === 413 || status === 415) return { connection: "close" };
  return retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
}
