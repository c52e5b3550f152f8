import type { FastifyInstance, FastifyRequest } from "fastify";
import { undefinedIfSlow } from "../observability/index.ts";
import type { AdminDependencies } from "./admin-dependencies.ts";

export const NO_ANSWER = "the database does not answer";

/** A list over a large log may take longer, so that the database is asked before it is blamed. */
const SLOW_MS = 1_500;

/** False also where the answer takes longer than `undefinedIfSlow` waits. */
export async function answers(ping: Promise<void>): Promise<boolean> {
  const answered = await undefinedIfSlow(() =>
    ping.then(
      () => true,
      () => false,
    ),
  );
  return answered ?? false;
}

/**
 * Answers 503 where a request that only reads waits for a database that is away: the store waits longer than callers do. A
 * request that changes something ends by itself, so that its answer and the audit log say what became of it.
 */
export function registerDatabaseWatch(
  app: FastifyInstance,
  { store }: Pick<AdminDependencies, "store">,
): void {
  // One ping at a time, however many requests are slow.
  let asking: Promise<boolean> | undefined;
  const databaseAnswers = () => {
    asking ??= answers(store.ping()).finally(() => {
      asking = undefined;
    });
    return asking;
  };

  app.addHook("onRequest", async (request, reply) => {
    if (!isWatched(request)) return;
    const timer = setTimeout(async () => {
      const isAway = !(await databaseAnswers());
      if (isAway && !reply.sent && !reply.raw.headersSent) reply.code(503).send({ error: NO_ANSWER });
    }, SLOW_MS);
    reply.raw.once("close", () => clearTimeout(timer));
  });
}

function isWatched({ method, routeOptions }: FastifyRequest): boolean {
  return method === "GET" && routeOptions.schema?.guard?.isPublic !== true;
}
