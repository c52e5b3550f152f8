import type { CaptureBuffer, StartPosition } from "../dev/capture/index.ts";
import type { Log } from "../domain/index.ts";
import type { CaptureAccess } from "./dependencies.ts";
import { queryOf } from "./exchange.ts";
import type { RequestContext } from "./request-context.ts";
import type { RouteHandler } from "./responder.ts";
import { jsonResponse, respondThrottled } from "./responses.ts";

const NO_TOKEN = { error: "send the admin token: Authorization: Bearer <ADMIN_TOKEN>" };
const UNAUTHORIZED = jsonResponse(401, NO_TOKEN, { "www-authenticate": 'Bearer realm="admin"' });
const FORBIDDEN = jsonResponse(403, { error: "this needs the role operator; yours is viewer" });
const MALFORMED_TEXT = "expected ?after=<position>, ?since=<seconds> from 0 to 86400, or neither";
const MALFORMED = jsonResponse(400, { error: MALFORMED_TEXT });
const MAX_SINCE_SECONDS = 86_400;

/** `GET {base}/_oncehook/captured`: every callback as it came, one JSON line each, for as long as the reader stays. */
export function captureRoute({ buffer, checkToken }: CaptureAccess, log: Log): RouteHandler {
  return async (request) => {
    const stop = accessError(request, checkToken);
    if (stop !== undefined) return respondThrottled(request, stop);
    const { exchange, responseHeaders } = request;
    const beginning = startPositionOf(exchange.target, buffer);
    if (beginning === undefined) return respondThrottled(request, MALFORMED);
    const { address } = exchange;
    log.info({ address }, "a listener has connected: it gets every callback as it came");
    try {
      const headers = { ...responseHeaders, ...STREAM_HEADERS };
      await exchange.stream?.(headers, (over) => linesFrom(beginning, buffer, over), buffer.ended);
    } catch (error) {
      log.warn({ err: error }, "a listener's connection was ended: what is kept could not be read");
    } finally {
      // The response is never complete, so that the reader comes again.
      exchange.abort();
      log.info({ address }, "a listener has gone");
    }
  };
}

/** Why a request goes no further; undefined for an operator's. */
function accessError({ exchange: { headers, address } }: RequestContext, judge: CaptureAccess["checkToken"]) {
  const [, token] = /^Bearer ([\x21-\x7e]+)$/i.exec(String(headers.authorization)) ?? [];
  if (token === undefined) return UNAUTHORIZED;
  const checked = judge(token, address);
  if (checked.result === "right") return undefined;
  if (checked.result !== "too many") return checked.result === "wrong" ? UNAUTHORIZED : FORBIDDEN;
  const { waitSeconds } = checked;
  const error = `too many wrong tokens came from this address; try again in ${waitSeconds} s`;
  return jsonResponse(429, { error }, { "retry-after": String(waitSeconds) });
}

function startPositionOf(target: string, buffer: CaptureBuffer): StartPosition | undefined {
  const query = new URLSearchParams(queryOf(target));
  const [after, since] = [query.get("after"), query.get("since")];
  if (query.size > 1) return undefined;
  if (after !== null) {
    const position = buffer.parsePosition(after);
    return position && { from: "position", position };
  }
  if (since !== null) {
    const seconds = /^\d{1,5}$/.test(since) ? Number(since) : Number.POSITIVE_INFINITY;
    return seconds <= MAX_SINCE_SECONDS ? { from: "since", seconds } : undefined;
  }
  return query.size === 0 ? { from: "now" } : undefined;
}

const STREAM_HEADERS = {
  "content-type": "application/x-ndjson; charset=utf-8",
  // A proxy that buffers the response would pass nothing on, as it never ends.
  "x-accel-buffering": "no",
};

async function* linesFrom(beginning: StartPosition, buffer: CaptureBuffer, over: AbortSignal) {
  for await (const line of buffer.follow(beginning, over)) yield `${JSON.stringify(line)}\n`;
}
