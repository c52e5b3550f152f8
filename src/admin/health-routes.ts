import type { FastifyInstance } from "fastify";
import type { AdminDependencies } from "./admin-dependencies.ts";
import { answers, NO_ANSWER } from "./database-answers.ts";
import { operation } from "./operation.ts";

const status = (value: string) => ({
  type: "object",
  required: ["status"],
  additionalProperties: false,
  properties: { status: { const: value } },
});
const ALIVE = operation({
  summary: "Liveness",
  isPublic: true,
  anyHost: true,
  responses: { 200: { description: "The process responds.", content: { schema: status("ok") } } },
});
const READY = operation({
  summary: "Readiness",
  isPublic: true,
  anyHost: true,
  responses: {
    200: { description: "Ready for requests.", content: { schema: status("ready") } },
    503: { description: "The process starts or drains, or its database does not respond." },
  },
});
const METRICS = {
  summary: "Metrics for Prometheus",
  security: [],
  guard: { isPublic: true },
  response: {
    200: {
      description: "The Prometheus text format.",
      content: { "text/plain": { schema: { type: "string" } } },
    },
  },
};

/** `/healthz`: the process answers. `/readyz`: it may be sent work. `/metrics`: for Prometheus. None holds secrets. */
export function registerHealth(app: FastifyInstance, { store, metrics, isServing }: AdminDependencies): void {
  app.get("/healthz", { schema: ALIVE }, async () => ({ status: "ok" }));
  app.get("/readyz", { schema: READY }, async (_request, reply) => {
    if (!isServing()) return reply.code(503).send({ error: "starting or draining" });
    const isThere = await answers(store.ping());
    return isThere ? { status: "ready" } : reply.code(503).send({ error: NO_ANSWER });
  });
  app.get("/metrics", { schema: METRICS }, async (_request, reply) => {
    const { contentType, text } = await metrics.render();
    return reply.type(contentType).send(text);
  });
}
