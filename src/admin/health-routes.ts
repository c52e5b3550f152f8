import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { undefinedIfSlow } from "../observability/index.ts";
import type { AdminDependencies } from "./admin-dependencies.ts";
import { HttpError, operation } from "./operation.ts";

export const NO_ANSWER = "the database does not answer";

/** A list over a large log may take longer, so that a ping decides whether the database is away. */
const SLOW_MS = 1_500;

const status = (value: string) => z.strictObject({ status: z.literal(value) });
const ALIVE = operation({
  summary: "Liveness",
  isPublic: true,
  anyHost: true,
  responses: { 200: ["The process responds.", { shape: status("ok") }] },
});
const READY = operation({
  summary: "Readiness",
  isPublic: true,
  anyHost: true,
  responses: {
    200: ["Ready for requests.", { shape: status("ready") }],
    503: "The process starts or drains, or its database does not respond.",
  },
});
const METRICS = operation({
  summary: "Metrics for Prometheus",
  isPublic: true,
  responses: { 200: ["The Prometheus text format.", { media: ["text/plain"] }] },
});

/** `/healthz`: the process responds. `/readyz`: it takes work. `/metrics`: for Prometheus. None shows secrets. */
export function registerHealth(app: FastifyInstance, deps: AdminDependencies): void {
  app.get("/healthz", ALIVE, async () => ({ status: "ok" }));
  app.get("/readyz", READY, async () => {
    assertServing(deps);
    if (await answers(deps.store.ping())) return { status: "ready" };
    throw new HttpError(503, NO_ANSWER);
  });
  app.get("/metrics", METRICS, async (_request, reply) => {
    const { contentType, text } = await deps.metrics.render();
    return reply.type(contentType).send(text);
  });
}

/** @throws HttpError while no new work may be sent to this process */
export function assertServing({ isServing }: AdminDependencies): void {
  if (!isServing()) throw new HttpError(503, "starting or draining");
}

async function answers(ping: Promise<void>): Promise<boolean> {
  const answered = ping.then(() => true).catch(() => false);
  return (await undefinedIfSlow(() => answered)) ?? false;
}

/**
 * Responds with 503 to a GET while the database is away: the store waits longer than callers do. A request that changes
 * something ends by itself, so that its response and the audit log have its outcome.
 */
export function registerDatabaseWatch(app: FastifyInstance, { store }: AdminDependencies): void {
  // One ping at a time, however many requests are slow.
  let asking: Promise<boolean> | undefined;
  const databaseAnswers = () => {
    asking ??= answers(store.ping()).finally(() => {
      asking = undefined;
    });
    return asking;
  };
  app.addHook("onRequest", async ({ method, routeOptions }, reply) => {
    if (method !== "GET" || routeOptions.schema?.guard?.isPublic === true) return;
    const timer = setTimeout(async () => {
      const isAway = !(await databaseAnswers());
      if (isAway && !reply.sent && !reply.raw.headersSent) reply.code(503).send({ error: NO_ANSWER });
    }, SLOW_MS);
    reply.raw.once("close", () => clearTimeout(timer));
  });
}
