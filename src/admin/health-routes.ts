import type { FastifyInstance } from "fastify";
import type { AdminDeps } from "./admin-deps.ts";
import { answers, NO_ANSWER } from "./database-answers.ts";
import { operation } from "./operation.ts";

const status = (value: string) => ({
  type: "object",
  required: ["status"],
  additionalProperties: false,
  properties: { status: { const: value } },
});
const ALIVE = operation({
  summary: "The process answers",
  isOpen: true,
  anyHost: true,
  answers: { 200: { says: "It does.", content: { schema: status("ok") } } },
});
const READY = operation({
  summary: "The process may be sent work",
  isOpen: true,
  anyHost: true,
  answers: {
    200: { says: "It may.", content: { schema: status("ready") } },
    503: { says: "It starts, drains, or its database does not answer." },
  },
});
const METRICS = {
  summary: "Metrics for Prometheus",
  security: [],
  guard: { isOpen: true },
  response: {
    200: {
      description: "The Prometheus text format.",
      content: { "text/plain": { schema: { type: "string" } } },
    },
  },
};

/** `/healthz`: the process answers. `/readyz`: it may be sent work. `/metrics`: for Prometheus. None holds secrets. */
export function registerHealth(app: FastifyInstance, { store, metrics, isServing }: AdminDeps): void {
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
