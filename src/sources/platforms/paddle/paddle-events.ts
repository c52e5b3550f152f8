import { createApiClient } from "../../reconcile/api-client.ts";
import { callbackOf, property, textProperty } from "../../reconcile/api-json.ts";
import { cursorAfter, eventsOf } from "../../reconcile/listed-events.ts";
import { type ReconcileOptions, type Reconciliation, readReconcileOptions } from "../../reconcile/reconciliation.ts";

/**
 * Paddle's `GET /events`: of the past 90 days, by id, newest first as it is asked here; it takes no times. An event has
 * `event_id`, `event_type`, `occurred_at` and `data` as a callback has, without `notification_id`.
 * Source: Paddle, "List events" and "Pagination"; @paddle/paddle-node-sdk `resources/events`.
 */
export function paddleEvents(options: ReconcileOptions): Reconciliation {
  const { apiKey, everyMs, apiUrl } = readReconcileOptions(options, "https://api.paddle.com");
  const call = createApiClient(apiUrl, { authorization: `Bearer ${apiKey}` });
  return {
    everyMs,
    keepsDays: 90,
    address: `${apiUrl}/events`,
    async *list({ from, to }, context) {
      let { cursor } = context;
      do {
        const after = cursor === undefined ? undefined : { after: cursor };
        const query = { order_by: "id[DESC]", per_page: "200", ...after };
        const { json } = await call({ path: "/events", query }, context);
        const all = eventsOf(json, "data").map((event) => ({
          id: textProperty(event, "event_id") ?? "",
          type: textProperty(event, "event_type") ?? "",
          at: textProperty(event, "occurred_at") ?? "",
          callback: async () => callbackOf(event),
        }));
        const times = all.map(({ at }) => Date.parse(at));
        const isOutside = times.map((time) => time < from.getTime() || time >= to.getTime());
        // An event without a readable time is looked at all the same.
        const events = all.filter((_, index) => isOutside[index] === false);
        const isPast = all.length > 0 && times.every((time) => time < from.getTime());
        const hasMore = property(property(property(json, "meta"), "pagination"), "has_more") === true;
        cursor = cursorAfter(all, hasMore && !isPast);
        yield { events, next: cursor };
      } while (cursor !== undefined);
    },
  };
}
