import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Door } from "../access/door.ts";
import { knownCaller } from "../access/guard.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { FILTER_QUERY, type FilterQuery, filterOf } from "../callback-filters.ts";
import { operation } from "../operation.ts";
import { Listener } from "./listener.ts";
import { Live } from "./live.ts";
import { readPlace } from "./place.ts";

const LIVE = operation({
  summary: "Callbacks as they are answered",
  description:
    "Server-sent events: `callback` (a Callback), `tally` every two seconds (a Tally), `gap` where some were left out (a Gap). " +
    "Whoever comes back with `Last-Event-ID` gets what it has missed, up to a thousand callbacks. Who does not read is cut off; and so is a session, once it has ended.",
  querystring: { type: "object", properties: FILTER_QUERY, additionalProperties: false },
  answers: {
    200: {
      says: "It goes on until one side ends it.",
      content: { schema: { type: "string" }, media: ["text/event-stream"] },
    },
    503: { says: "As many listen to this process as may." },
  },
});

/** `GET /api/v1/live`. */
export function registerLive(app: FastifyInstance, deps: AdminDeps, door: Door): void {
  const { log } = deps;
  let live: Live | undefined;
  app.addHook("preClose", async () => live?.close());
  app.get<{ Querystring: FilterQuery }>("/api/v1/live", { schema: LIVE }, async (request, reply) => {
    const filter = filterOf(request.query);
    live ??= begun(deps, door);
    if (!live.hasRoom) {
      const error = "as many listen to this process as may; close another one";
      return reply.code(503).header("retry-after", "10").send({ error });
    }
    const listener = new Listener(filter, begin(reply), knownCaller(request).session);
    await live.join(listener, placeOf(request)).catch((error: unknown) => {
      log.warn({ err: error }, "a live stream was ended: the callback log could not be read");
    });
    return reply;
  });
}

function begun(deps: AdminDeps, door: Door): Live {
  const live = new Live(deps);
  door.onSessionEnd((idSha256) => live.endSession(idSha256));
  return live;
}

/** From here on the answer is ours to write. */
function begin(reply: FastifyReply): FastifyReply["raw"] {
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    "content-type": "text/event-stream; charset=utf-8",
    // A proxy that gathers the answer would pass nothing on, as it never ends.
    "x-accel-buffering": "no",
  });
  raw.flushHeaders();
  return raw;
}

/** A header that nobody can read is as good as none: a browser would send it for ever. */
function placeOf({ headers }: FastifyRequest): ReturnType<typeof readPlace> {
  const text = headers["last-event-id"];
  return typeof text === "string" ? readPlace(text) : undefined;
}
