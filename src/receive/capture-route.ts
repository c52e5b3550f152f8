import { once } from "node:events";
import type { CaptureBuffer, StartPosition } from "../dev/capture/index.ts";
import type { Log } from "../domain/index.ts";
import type { CaptureAccess } from "./dependencies.ts";
import type { RequestContext } from "./request-context.ts";
import type { RouteHandler } from "./responder.ts";
import { type CallbackResponse, respondInTurn } from "./responses.ts";

const UNAUTHORIZED = refusal(401, "send the admin token: Authorization: Bearer <ADMIN_TOKEN>", {
  "www-authenticate": 'Bearer realm="admin"',
});
const FORBIDDEN = refusal(403, "this needs the role operator; yours is viewer");
const MALFORMED = refusal(400, "expected ?after=<position>, ?since=<seconds> from 0 to 86400, or neither");
const MAX_SINCE_SECONDS = 86_400;

/** `GET {base}/_oncehook/captured`: every callback as it came, one JSON line each, for as long as the reader stays. */
export function captureRoute({ buffer, checkToken }: CaptureAccess, log: Log): RouteHandler {
  return async (request) => {
    const stop = accessError(request, checkToken);
    if (stop !== undefined) return respondInTurn(request, stop);
    const beginning = startPositionOf(request.url, buffer);
    if (beginning === undefined) return respondInTurn(request, MALFORMED);
    const { response, address } = request;
    log.info({ address }, "a listener has connected: it gets every callback as it came");
    try {
      await stream(request, beginning, buffer);
    } catch (error) {
      log.warn({ err: error }, "a listener's connection was ended: what is kept could not be read");
    } finally {
      // Cut and not ended well: it is never complete, and the reader comes again.
      response.destroy();
      log.info({ address }, "a listener has gone");
    }
  };
}

/** Why a request goes no further; undefined for an operator's. */
function accessError(
  { headers, address }: RequestContext,
  judge: CaptureAccess["checkToken"],
): CallbackResponse | undefined {
  const [, token] = /^Bearer ([\x21-\x7e]+)$/i.exec(headers.authorization ?? "") ?? [];
  if (token === undefined) return UNAUTHORIZED;
  const judged = judge(token, address);
  if (judged.verdict === "right") return undefined;
  if (judged.verdict !== "too many") return judged.verdict === "wrong" ? UNAUTHORIZED : FORBIDDEN;
  const { waitSeconds } = judged;
  const error = `too many wrong tokens came from this address; try again in ${waitSeconds} s`;
  return refusal(429, error, { "retry-after": String(waitSeconds) });
}

function refusal(status: number, error: string, headers: Record<string, string> = {}): CallbackResponse {
  return { status, headers, body: JSON.stringify({ error }) };
}

function startPositionOf(url: string, buffer: CaptureBuffer): StartPosition | undefined {
  const mark = url.indexOf("?");
  const query = new URLSearchParams(mark === -1 ? "" : url.slice(mark + 1));
  const [after, since] = [query.get("after"), query.get("since")];
  if (query.size > 1) return undefined;
  if (after !== null) {
    const place = buffer.parsePosition(after);
    return place === undefined ? undefined : { from: "position", position: place };
  }
  if (since !== null) {
    const seconds = /^\d{1,5}$/.test(since) ? Number(since) : Number.POSITIVE_INFINITY;
    return seconds <= MAX_SINCE_SECONDS ? { from: "since", seconds } : undefined;
  }
  return query.size === 0 ? { from: "now" } : undefined;
}

async function stream(
  { response, responseHeaders }: RequestContext,
  beginning: StartPosition,
  captureBuffer: CaptureBuffer,
): Promise<void> {
  if (response.destroyed) return;
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const over = AbortSignal.any([gone.signal, captureBuffer.ended]);
  response.writeHead(200, {
    ...responseHeaders,
    "content-type": "application/x-ndjson; charset=utf-8",
    // A proxy that buffers the response would pass nothing on, as it never ends.
    "x-accel-buffering": "no",
  });
  for await (const line of captureBuffer.follow(beginning, over)) {
    if (over.aborted) return;
    const isFull = !response.write(`${JSON.stringify(line)}\n`);
    if (isFull) await once(response, "drain", { signal: over }).catch(() => {});
  }
}
