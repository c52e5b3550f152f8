import type { FastifyInstance } from "fastify";
import type { AdminDeps } from "./admin-deps.ts";
import { operation } from "./operation.ts";
import { NO_NUL } from "./paging.ts";

const PARAMS = {
  type: "object",
  properties: {
    source: {
      type: "string",
      pattern: NO_NUL,
      description: "One of the items of the list, or `oauth` for its redirect address.",
    },
  },
} as const;

const LIST = operation({
  summary: "What platforms are to register, which secrets they use, and what they may send",
  answers: { 200: { says: "All of it.", content: "Sources" } },
});
const REACH = operation({
  summary: "Whether the registered addresses lead here",
  action: "source.reach",
  description:
    "Sends an unsigned callback to each address of the source, below CALLBACK_BASE_URL, as a platform would, and looks whether it arrived at a receiver of this database. Its requests count against the rate limits.",
  params: PARAMS,
  answers: {
    200: { says: "It was tried; `reached` says how it ended.", content: "Reach" },
    404: { says: "There is no such source." },
    409: { says: "Such a check is under way." },
    503: { says: "The receiver starts or drains." },
  },
});

/** `GET /api/v1/sources` and `POST /api/v1/sources/:source/reach`. */
export function registerSources(app: FastifyInstance, { sources, isServing, log }: AdminDeps): void {
  app.get("/api/v1/sources", { schema: LIST }, async () => sources.list());
  app.post<{ Params: { source: string } }>(
    "/api/v1/sources/:source/reach",
    { schema: REACH },
    async ({ params: { source } }, reply) => {
      if (!isServing()) return reply.code(503).send({ error: "starting or draining" });
      const reach = await sources.reach(source);
      if (reach === "absent") return reply.code(404).send({ error: "there is no source of this name" });
      if (reach === "busy")
        return reply.code(409).send({ error: "such a check is under way; ask again in some seconds" });
      log.info({ source, reached: reach.reached }, "an operator had the registered addresses checked");
      return reply.send(reach);
    },
  );
}
