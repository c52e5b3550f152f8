import type { FastifyInstance, FastifyReply } from "fastify";
import type { ListedNotification, StoredDelivery } from "../store/index.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { operation } from "./operation.ts";
import { BOUNDED_LOOK, foundPageOf, NO_NUL, PAGE_QUERY, type PageQuery } from "./paging.ts";
import type { NotificationView } from "./shapes.ts";

const QUERY = {
  type: "object",
  properties: {
    ...PAGE_QUERY,
    state: {
      type: "string",
      enum: ["waiting", "delivered", "dead"],
      description:
        "Those that have a delivery in this state; one that was not handed to the channels yet is waiting.",
    },
  },
  additionalProperties: false,
} as const;
const PARAMS = {
  type: "object",
  // Beyond it a number is no longer the one that was written; PostgreSQL's bigint ends later.
  properties: { id: { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER } },
} as const;
const DISCARD_QUERY = {
  type: "object",
  properties: {
    channel: {
      type: "string",
      minLength: 1,
      maxLength: 512,
      pattern: NO_NUL,
      description: "Of this channel alone, such as `webhook` or `email:shop@example.com`.",
    },
  },
  additionalProperties: false,
} as const;

const count = (properties: object = {}) => ({
  type: "object",
  required: ["deliveries", ...Object.keys(properties)],
  additionalProperties: false,
  properties: { deliveries: { type: "integer", description: "How many there were." }, ...properties },
});
const LIST = operation({
  summary: "Notifications and how far their deliveries are",
  description: BOUNDED_LOOK,
  querystring: QUERY,
  answers: { 200: { says: "A page of them.", content: { pageOf: "Notification" } } },
});
const REPLAY = operation({
  summary: "Deliver again what is dead",
  action: "notification.replay",
  params: PARAMS,
  answers: {
    200: {
      says: "They are due now, from their first attempt.",
      content: {
        schema: count({
          not_configured: {
            type: "array",
            items: { type: "string" },
            description: "Channels whose dead deliveries stay dead, since they are not configured.",
          },
        }),
      },
    },
    404: { says: "This notification has no dead delivery." },
    409: { says: "Dead are only deliveries to channels that are not configured." },
  },
});
const DISCARD = operation({
  summary: "Discard deliveries that wait or are dead",
  action: "notification.discard",
  description:
    "What is delivered stays listed until its retention ends. Deliveries that are being tried stay too.",
  params: PARAMS,
  querystring: DISCARD_QUERY,
  answers: {
    200: { says: "They are gone.", content: { schema: count() } },
    404: { says: "There is no such delivery that waits or is dead." },
    409: { says: "They are being delivered right now." },
  },
});

/** `GET /api/v1/notifications`, and what an operator does about one whose deliveries are stuck. */
export function registerNotifications(app: FastifyInstance, deps: AdminDeps): void {
  app.get<{ Querystring: PageQuery & { state?: StoredDelivery["state"] } }>(
    "/api/v1/notifications",
    { schema: LIST },
    async ({ query }) => {
      const filter = query.state === undefined ? {} : { state: query.state };
      return foundPageOf(query, (search) => deps.store.outbox.search(filter, search), presentNotification);
    },
  );
  app.post<{ Params: { id: number } }>(
    "/api/v1/notifications/:id/replay",
    { schema: REPLAY },
    async ({ params }, reply) => replay(params.id, reply, deps),
  );
  app.delete<{ Params: { id: number }; Querystring: { channel?: string } }>(
    "/api/v1/notifications/:id",
    { schema: DISCARD },
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
export function presentNotification(row: ListedNotification): NotificationView {
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
