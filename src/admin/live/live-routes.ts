import type { FastifyInstance, FastifyReply } from "fastify";
import { requireCaller } from "../access/guard.ts";
import type { RouteDependencies } from "../admin-dependencies.ts";
import { CALLBACK_FILTER, callbackFilter } from "../callback-routes.ts";
import { HttpError, operation } from "../operation.ts";
import { LiveFeed, LiveStream } from "./live-feed.ts";
import { parsePosition } from "./log-reader.ts";

const LIVE = operation({
  summary: "Callbacks as they are answered",
  description:
    "Server-sent events: `callback` (a Callback), `tally` every two seconds (a Tally), `gap` where some were left out (a Gap). " +
    "A client that reconnects with `Last-Event-ID` gets up to a thousand missed callbacks. A stalled client is disconnected, and so is an ended session.",
  querystring: CALLBACK_FILTER,
  responses: {
    200: ["It goes on until one side ends it.", { media: ["text/event-stream"] }],
    503: "This process has the maximum of live streams.",
  },
});

export function registerLive(app: FastifyInstance, deps: RouteDependencies): void {
  const feed = new LiveFeed(deps);
  deps.authenticator.onSessionEnd((idSha256) => feed.endSession(idSha256));
  app.addHook("preClose", () => feed.close());
  app.get("/api/v1/live", LIVE, async (request, reply) => {
    const filter = callbackFilter(request.query);
    if (!feed.hasRoom) {
      const error = "this process has the maximum of live streams; close another one";
      throw new HttpError(503, error, { "retry-after": "10" });
    }
    const stream = new LiveStream(filter, openStream(reply), requireCaller(request));
    const { "last-event-id": position = "" } = request.headers;
    // An unreadable header is ignored: a browser would send it forever.
    feed.add(stream, parsePosition(String(position)));
    return reply;
  });
}

/** Takes the response over from Fastify. */
function openStream(reply: FastifyReply): FastifyReply["raw"] {
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    "content-type": "text/event-stream; charset=utf-8",
    // A middleware that compresses responses would hold every event back until it has enough of them.
    "cache-control": "no-store, no-transform",
    // A proxy that buffers a response would pass nothing on of one that never ends.
    "x-accel-buffering": "no",
  });
  raw.flushHeaders();
  return raw;
}
