import type { FastifyInstance } from "fastify";
import type { ListedNotification, StoredDelivery } from "../store/index.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { PAGE_QUERY, type PageQuery, pageOf } from "./paging.ts";

const QUERY = {
  type: "object",
  properties: { ...PAGE_QUERY, state: { type: "string", enum: ["waiting", "delivered", "dead"] } },
  additionalProperties: false,
} as const;
const PARAMS = {
  type: "object",
  properties: { id: { type: "integer", minimum: 1 } },
} as const;

/** `GET /api/notifications`, and `POST /api/notifications/:id/replay` for deliveries that are dead. */
export function registerNotifications(app: FastifyInstance, { store, clock, log }: AdminDeps): void {
  app.get<{ Querystring: PageQuery & { state?: StoredDelivery["state"] } }>(
    "/api/notifications",
    { schema: { querystring: QUERY } },
    async ({ query }) => {
      const filter = query.state === undefined ? {} : { state: query.state };
      return pageOf(query, (page) => store.outbox.list(page, filter), present);
    },
  );
  app.post<{ Params: { id: number } }>(
    "/api/notifications/:id/replay",
    { schema: { params: PARAMS } },
    async ({ params }, reply) => {
      const revived = await store.outbox.revive(params.id, clock.now());
      if (revived === 0) return reply.code(404).send({ error: "this notification has no dead delivery" });
      log.info({ id: params.id, deliveries: revived }, "an operator replayed a notification");
      return { deliveries: revived };
    },
  );
}

function present(row: ListedNotification) {
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
