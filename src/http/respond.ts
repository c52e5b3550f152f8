import type { Answer } from "./answer.ts";
import type { Incoming } from "./incoming.ts";

/** Sends an answer, where the other side is still there. */
export function respond({ response, answerHeaders }: Incoming, { status, headers, body }: Answer): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, {
    ...answerHeaders,
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    ...headers,
  });
  response.end(body);
}
