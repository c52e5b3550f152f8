import type { FastifyInstance } from "fastify";
import type { AdminDependencies } from "./admin-dependencies.ts";
import { operation } from "./operation.ts";
import { NO_NUL } from "./request-parameters.ts";

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
  summary: "Endpoint URLs, secrets and event types",
  responses: { 200: { description: "All of it.", content: "Sources" } },
});
const CHECK = operation({
  summary: "Check the registered addresses",
  action: "source.check",
  description:
    "Sends an unsigned callback to each address of the source, below CALLBACK_BASE_URL, as a platform would, and looks whether it arrived at a receiver of this database. Its requests count against the rate limits.",
  params: PARAMS,
  responses: {
    200: { description: "Checked; `reached` holds the result.", content: "EndpointCheck" },
    404: { description: "There is no such source." },
    409: { description: "A check is in progress." },
    503: { description: "The receiver starts or drains." },
  },
});

/** `GET /api/v1/sources` and `POST /api/v1/sources/:source/check`. */
export function registerSources(app: FastifyInstance, { sources, isServing, log }: AdminDependencies): void {
  app.get("/api/v1/sources", { schema: LIST }, async () => sources.list());
  app.post<{ Params: { source: string } }>(
    "/api/v1/sources/:source/check",
    { schema: CHECK },
    async ({ params: { source } }, reply) => {
      if (!isServing()) return reply.code(503).send({ error: "starting or draining" });
      const result = await sources.check(source);
      if (result === "absent") return reply.code(404).send({ error: "there is no source of this name" });
      if (result === "busy")
        return reply.code(409).send({ error: "a check is in progress; try again in a few seconds" });
      log.info({ source, reached: result.reached }, "an operator had the registered addresses checked");
      return reply.send(result);
    },
  );
}
