import type { FastifyInstance, FastifyReply } from "fastify";
import type { ListedNotification, StoredDelivery } from "../store/index.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { NO_NUL, PAGE_QUERY, type PageQuery, pageOf } from "./paging.ts";

const QUERY = {
  type: "object",
  properties: { ...PAGE_QUERY, state: { type: "string", enum: ["waiting", "delivered", "dead"] } },
  additionalProperties: false,
} as const;
const PARAMS = {
  type: "object",
  // Beyond it a number is no longer the one that was written; PostgreSQL's bigint ends later.
  properties: { id: { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER } },
} as const;
const DISCARD_QUERY = {
  type: "object",
  properties: { channel: { type: "string", minLength: 1, maxLength: 512, pattern: NO_NUL } },
  additionalProperties: false,
} as const;

/** `GET /api/notifications`, and what an operator does about one whose deliveries are stuck. */
export function registerNotifications(app: FastifyInstance, deps: AdminDeps): void {
  app.get<{ Querystring: PageQuery & { state?: StoredDelivery["state"] } }>(
    "/api/notifications",
    { schema: { querystring: QUERY } },
    async ({ query }) => {
      const filter = query.state === undefined ? {} : { state: query.state };
      return pageOf(query, (page) => deps.store.outbox.list(page, filter), presentNotification);
    },
  );
  app.post<{ Params: { id: number } }>(
    "/api/notifications/:id/replay",
    { schema: { params: PARAMS } },
    async ({ params }, reply) => replay(params.id, reply, deps),
  );
  app.delete<{ Params: { id: number }; Querystring: { channel?: string } }>(
    "/api/notifications/:id",
    { schema: { params: PARAMS, querystring: DISCARD_QUERY } },
    async ({ params, query }, reply) => discard(params.id, query.channel, reply, deps),
  );
}

async function replay(id: number, reply: FastifyReply, deps: AdminDeps): Promise<FastifyReply> {
  const { store, destinations, clock, log } = deps;
  const { deliveries, notConfigured } = await store.outbox.revive(id, destinations, clock.now());
  if (deliveries > 0) {
    log.info({ id, deliveries }, "an operator replayed a notification");
    return reply.send({ deliveries, not_configured: notConfigured });
  }
  if (notConfigured.length === 0)
    return reply.code(404).send({ error: "this notification has no dead delivery" });
  const channels = notConfigured.join(", ");
  const error = `dead are only deliveries to channels that are not configured: ${channels}; configure them again, or discard them`;
  return reply.code(409).send({ error });
}

async function discard(
  id: number,
  channel: string | undefined,
  reply: FastifyReply,
  { store, clock, log }: AdminDeps,
): Promise<FastifyReply> {
  const deliveries = await store.outbox.discard(id, channel, clock.now());
  if (deliveries === "leased")
    return reply.code(409).send({ error: "it is being delivered right now; look at it again in a moment" });
  if (deliveries === 0)
    return reply.code(404).send({ error: "there is no such delivery that waits or is dead" });
  log.info({ id, channel, deliveries }, "an operator discarded deliveries of a notification");
  return reply.send({ deliveries });
}

/** How the admin API shows a notification and its deliveries. */
export function presentNotification(row: ListedNotification) {
  return {
    id: row.id,
    idempotency_key: row.idempotencyKey,
    source: row.source,
    event_id: row.eventId,
    topic: row.topic,
    payload: row.payload,
    created_at: row.createdAt,
    deliveries: row.deliveries.map((one) => ({
      channel: one.channel,
      state: one.state,
      attempts: one.attempts,
      error: one.error,
      next_attempt_at: one.nextAttemptAt,
      delivered_at: one.deliveredAt,
    })),
  };
}
