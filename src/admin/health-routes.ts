import type { FastifyInstance } from "fastify";
import type { AdminDeps } from "./admin-deps.ts";

const PING_LIMIT_MS = 2_000;

/** `/healthz`: the process answers. `/readyz`: it may be sent work. `/metrics`: for Prometheus. None holds secrets. */
export function registerHealth(app: FastifyInstance, { store, metrics, isServing }: AdminDeps): void {
  app.get("/healthz", async () => ({ status: "ok" }));
  app.get("/readyz", async (_request, reply) => {
    if (!isServing()) return reply.code(503).send({ error: "starting or draining" });
    const answered = await pinged(store.ping());
    return answered ? { status: "ready" } : reply.code(503).send({ error: "the database does not answer" });
  });
  app.get("/metrics", async (_request, reply) => {
    const { contentType, text } = await metrics.render();
    return reply.type(contentType).send(text);
  });
}

async function pinged(ping: Promise<void>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), PING_LIMIT_MS);
  const answered = ping.then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([answered, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
