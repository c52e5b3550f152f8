import type { Answer } from "./answer.ts";
import type { Incoming } from "./incoming.ts";

type Responding = Pick<Incoming, "response" | "answerHeaders">;

/** Sends an answer, where the other side is still there. */
export function respond({ response, answerHeaders }: Responding, { status, headers, body }: Answer): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, {
    ...answerHeaders,
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    ...headers,
  });
  response.end(body);
}

/** The same to a request that is not authentic: it waits where many of them are responded to. */
export function respondInTurn(request: Incoming, answer: Answer): void {
  const turn = request.turns.next(request.message.socket);
  // Its body is not kept meanwhile.
  const { response, answerHeaders } = request;
  if (turn === undefined) respond(request, answer);
  else void turn.then(() => respond({ response, answerHeaders }, answer));
}
