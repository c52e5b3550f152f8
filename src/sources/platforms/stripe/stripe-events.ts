import { createApiClient } from "../../reconcile/api-client.ts";
import { callbackOf, property, textProperty } from "../../reconcile/api-json.ts";
import { cursorAfter, eventsOf } from "../../reconcile/listed-events.ts";
import { type ReconcileOptions, type Reconciliation, readReconcileOptions } from "../../reconcile/reconciliation.ts";

/**
 * Stripe's `GET /v1/events`: newest first, of the past 30 days, each the object that a callback has as its body. It has
 * no events of connected accounts and no thin events. Its events have the account's API version, also where an endpoint
 * has another. Source: Stripe API reference, "List all events" and "Pagination"; stripe-node `src/resources/Events.ts`.
 */
export function stripeEvents(options: ReconcileOptions): Reconciliation {
  const { apiKey, everyMs, apiUrl } = readReconcileOptions(options, "https://api.stripe.com");
  const call = createApiClient(apiUrl, { authorization: `Bearer ${apiKey}` });
  return {
    everyMs,
    keepsDays: 30,
    address: `${apiUrl}/v1/events`,
    async *list({ from, to }, context) {
      const created = { "created[gte]": seconds(from), "created[lt]": seconds(to) };
      let { cursor } = context;
      do {
        const after = cursor === undefined ? undefined : { starting_after: cursor };
        const { json } = await call({ path: "/v1/events", query: { ...created, limit: "100", ...after } }, context);
        const events = eventsOf(json, "data").map((event) => ({
          id: textProperty(event, "id") ?? "",
          type: textProperty(event, "type") ?? "",
          at: timeOf(textProperty(event, "created")),
          callback: async () => callbackOf(event),
        }));
        cursor = cursorAfter(events, property(json, "has_more") === true);
        yield { events, next: cursor };
      } while (cursor !== undefined);
    },
  };
}

const seconds = (time: Date) => String(Math.floor(time.getTime() / 1_000));

function timeOf(created: string | undefined): string {
  const time = new Date(Number(created) * 1_000);
  return Number.isNaN(time.getTime()) ? "" : time.toISOString();
}
