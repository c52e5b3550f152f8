import type { FastifyInstance, FastifyReply } from "fastify";
import type { ListedNotification, StoredDelivery } from "../store/index.ts";
import type { AdminDependencies } from "./admin-dependencies.ts";
import { operation } from "./operation.ts";
import { BOUNDED_SEARCH, NO_NUL, PAGE_QUERY, type PageQuery, searchPageOf } from "./request-parameters.ts";
import type { NotificationView } from "./schemas.ts";

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
  summary: "Notifications and their deliveries",
  description: BOUNDED_SEARCH,
  querystring: QUERY,
  responses: { 200: { description: "A page of them.", content: { pageOf: "Notification" } } },
});
const REPLAY = operation({
  summary: "Retry failed deliveries",
  action: "notification.replay",
  params: PARAMS,
  responses: {
    200: {
      description: "The deliveries are due now, with all attempts left.",
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
    404: { description: "The notification has no failed delivery." },
    409: { description: "All failed deliveries are to channels that are not configured." },
  },
});
const DISCARD = operation({
  summary: "Discard waiting and failed deliveries",
  action: "notification.discard",
  description:
    "What is delivered stays listed until its retention ends. Deliveries that are being tried stay too.",
  params: PARAMS,
  querystring: DISCARD_QUERY,
  responses: {
    200: { description: "They are gone.", content: { schema: count() } },
    404: { description: "There is no such waiting or failed delivery." },
    409: { description: "They are being delivered right now." },
  },
});

/** `GET /api/v1/notifications`, and what an operator does about one whose deliveries are stuck. */
export function registerNotifications(app: FastifyInstance, deps: AdminDependencies): void {
  app.get<{ Querystring: PageQuery & { state?: StoredDelivery["state"] } }>(
    "/api/v1/notifications",
    { schema: LIST },
    async ({ query }) => {
      const filter = query.state === undefined ? {} : { state: query.state };
      return searchPageOf(
        query,
        (search) => deps.store.notifications.search(filter, search),
        presentNotification,
      );
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

async function replay(id: number, reply: FastifyReply, deps: AdminDependencies): Promise<FastifyReply> {
  const { store, channelNames, clock, log } = deps;
  const { deliveries, notConfigured } = await store.outbox.redeliverDead(id, channelNames, clock.now());
  if (deliveries > 0) {
    log.info({ id, deliveries }, "an operator replayed a notification");
    return reply.send({ deliveries, not_configured: notConfigured });
  }
  if (notConfigured.length === 0)
    return reply.code(404).send({ error: "this notification has no failed delivery" });
  const channels = notConfigured.join(", ");
  const error = `all failed deliveries are to channels that are not configured: ${channels}; configure them again, or discard them`;
  return reply.code(409).send({ error });
}

async function discard(
  id: number,
  channel: string | undefined,
  reply: FastifyReply,
  { store, clock, log }: AdminDependencies,
): Promise<FastifyReply> {
  const deliveries = await store.outbox.discard(id, channel, clock.now());
  if (deliveries === "leased")
    return reply.code(409).send({ error: "it is being delivered right now; look at it again in a moment" });
  if (deliveries === 0) return reply.code(404).send({ error: "there is no such waiting or failed delivery" });
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
