import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { AdminDependencies } from "./admin-dependencies.ts";
import { HttpError, operation } from "./operation.ts";
import { presentNotificationRow } from "./present.ts";
import * as input from "./request-parameters.ts";

const COUNT = { deliveries: z.int().describe("How many there were.") };
const LIST = operation({
  summary: "Notifications and their deliveries",
  description: input.BOUNDED_SEARCH,
  querystring: {
    ...input.PAGE_QUERY,
    state: z
      .enum(["waiting", "delivered", "dead"])
      .describe("Those that have a delivery in this state; one that was not handed to the channels yet is waiting.")
      .optional(),
  },
  responses: { 200: ["A page of them.", { pageOf: "NotificationRow" }] },
});
const NOT_CONFIGURED = z
  .array(z.string())
  .describe("Channels whose dead deliveries stay dead, since they are not configured.");
const REPLAY = operation({
  summary: "Retry failed deliveries",
  action: "notification.replay",
  params: input.ID_PARAMS,
  responses: {
    200: [
      "The deliveries are due now, with all attempts left.",
      { shape: z.strictObject({ ...COUNT, not_configured: NOT_CONFIGURED }) },
    ],
    404: "The notification has no failed delivery.",
    409: "All failed deliveries are to channels that are not configured.",
  },
});
const DISCARD = operation({
  summary: "Discard waiting and failed deliveries",
  action: "notification.discard",
  description: "Completed deliveries stay listed until their retention ends. Deliveries that are being tried stay too.",
  params: input.ID_PARAMS,
  querystring: {
    channel: input.filterText("Only of this channel, such as `webhook` or `email:shop@example.com`.", 512),
  },
  responses: {
    200: ["They are gone.", { shape: z.strictObject(COUNT) }],
    404: "There is no such waiting or failed delivery.",
    409: "They are being delivered right now.",
  },
});

export function registerNotifications(app: FastifyInstance, deps: AdminDependencies): void {
  const { store, channelNames, clock, log } = deps;
  app.get("/api/v1/notifications", LIST, async ({ query }) => {
    return input.searchPageOf(query, (page) => store.notifications.search(query, page), presentNotificationRow);
  });
  app.post("/api/v1/notifications/:id/replay", REPLAY, async ({ params: { id } }) => {
    const { deliveries, notConfigured } = await store.outbox.redeliverDead(id, channelNames, clock.now());
    if (deliveries === 0 && notConfigured.length === 0)
      throw new HttpError(404, "this notification has no failed delivery");
    if (deliveries === 0) {
      const channels = notConfigured.join(", ");
      const error = `all failed deliveries are to channels that are not configured: ${channels}; configure them again, or discard them`;
      throw new HttpError(409, error);
    }
    log.info({ id, deliveries }, "an operator replayed a notification");
    return { deliveries, not_configured: notConfigured };
  });
  app.delete("/api/v1/notifications/:id", DISCARD, async ({ params: { id }, query: { channel } }) => {
    const deliveries = await store.outbox.discard(id, channel, clock.now());
    if (deliveries === "leased")
      throw new HttpError(409, "it is being delivered right now; look at it again in a moment");
    if (deliveries === 0) throw new HttpError(404, "there is no such waiting or failed delivery");
    log.info({ id, channel, deliveries }, "an operator discarded deliveries of a notification");
    return { deliveries };
  });
}
