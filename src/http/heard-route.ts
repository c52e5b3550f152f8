import { once } from "node:events";
import type { Log } from "../domain/index.ts";
import { type Beginning, type Hearing, readPlace } from "../hear/index.ts";
import type { Answer } from "./answer.ts";
import type { Route } from "./concluded-route.ts";
import type { Incoming } from "./incoming.ts";
import type { HeardAccess } from "./public-deps.ts";
import { respondInTurn } from "./respond.ts";

const UNAUTHORIZED = {
  status: 401,
  headers: { "www-authenticate": 'Bearer realm="admin"' },
  body: JSON.stringify({ error: "send the admin token: Authorization: Bearer <ADMIN_TOKEN>" }),
};
const VIEWER = {
  status: 403,
  headers: {},
  body: JSON.stringify({ error: "this needs the role operator, and yours is viewer" }),
};
const MALFORMED = {
  status: 400,
  headers: {},
  body: JSON.stringify({ error: "expected ?after=<place>, ?since=<seconds> from 0 to 86400, or neither" }),
};
const LONGEST_SINCE = 86_400;

/** `GET {base}/_oncehook/heard`: every callback as it came, one JSON line each, for as long as the reader stays. */
export function heardRoute({ hearing, judge }: HeardAccess, log: Log): Route {
  return async (request) => {
    const stop = stopFor(request, judge);
    if (stop !== undefined) return respondInTurn(request, stop);
    const beginning = beginningOf(request.url);
    if (beginning === undefined) return respondInTurn(request, MALFORMED);
    const { response, address } = request;
    log.info({ address }, "a listener has connected: it gets every callback as it came");
    try {
      await stream(request, beginning, hearing);
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
function stopFor({ headers, address }: Incoming, judge: HeardAccess["judge"]): Answer | undefined {
  const [, token] = /^Bearer ([\x21-\x7e]+)$/i.exec(headers.authorization ?? "") ?? [];
  if (token === undefined) return UNAUTHORIZED;
  const judged = judge(token, address);
  switch (judged.verdict) {
    case "right":
      return undefined;
    case "not allowed":
      return VIEWER;
    case "wrong":
      return UNAUTHORIZED;
    case "too many": {
      const { waitSeconds } = judged;
      const error = `too many wrong tokens came from this address; try again in ${waitSeconds} s`;
      return {
        status: 429,
        headers: { "retry-after": String(waitSeconds) },
        body: JSON.stringify({ error }),
      };
    }
  }
}

function beginningOf(url: string): Beginning | undefined {
  const mark = url.indexOf("?");
  const query = new URLSearchParams(mark === -1 ? "" : url.slice(mark + 1));
  const [after, since] = [query.get("after"), query.get("since")];
  if (query.size > 1) return undefined;
  if (after !== null) {
    const place = readPlace(after);
    return place === undefined ? undefined : { from: "place", place };
  }
  if (since !== null) {
    const seconds = /^\d{1,5}$/.test(since) ? Number(since) : Number.POSITIVE_INFINITY;
    return seconds <= LONGEST_SINCE ? { from: "since", seconds } : undefined;
  }
  return query.size === 0 ? { from: "now" } : undefined;
}

async function stream(
  { response, answerHeaders }: Incoming,
  beginning: Beginning,
  hearing: Hearing,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const over = AbortSignal.any([gone.signal, hearing.ended]);
  response.writeHead(200, {
    ...answerHeaders,
    "content-type": "application/x-ndjson; charset=utf-8",
    // A proxy that gathers the answer would pass nothing on, as it never ends.
    "x-accel-buffering": "no",
  });
  for await (const line of hearing.follow(beginning, over)) {
    if (over.aborted) return;
    const isFull = !response.write(`${JSON.stringify(line)}\n`);
    if (isFull) await once(response, "drain", { signal: over }).catch(() => {});
  }
}
