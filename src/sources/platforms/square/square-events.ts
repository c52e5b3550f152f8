import { createApiClient } from "../../reconcile/api-client.ts";
import { callbackOf, property, textProperty } from "../../reconcile/api-json.ts";
import { eventsOf } from "../../reconcile/listed-events.ts";
import { type ReconcileOptions, type Reconciliation, readReconcileOptions } from "../../reconcile/reconciliation.ts";

/**
 * Square's `POST /v2/events` (SearchEvents, beta): events of the past 28 days, in the shape of a callback's body.
 * Events are disabled by default: only those that occur after `PUT /v2/events/enable` can be found. It takes only a
 * personal access token. Source: Square, "Events API" and "Search events"; the `square` SDK, `api/resources/events`.
 */
export function squareEvents(options: ReconcileOptions): Reconciliation {
  const { apiKey, everyMs, apiUrl } = readReconcileOptions(options, "https://connect.squareup.com");
  const call = createApiClient(apiUrl, { authorization: `Bearer ${apiKey}`, "square-version": "2026-09-16" });
  return {
    everyMs,
    keepsDays: 28,
    address: `${apiUrl}/v2/events`,
    async *list({ from, to }, context) {
      const range = { start_at: from.toISOString(), end_at: to.toISOString() };
      const query = { filter: { created_at: range } };
      let { cursor } = context;
      do {
        const after = cursor === undefined ? undefined : { cursor };
        const { json } = await call({ path: "/v2/events", body: { query, limit: 100, ...after } }, context);
        // For a window without events the response leaves the array out.
        const isEmpty = property(json, "events") === undefined && property(json, "errors") === undefined;
        const events = (isEmpty ? [] : eventsOf(json, "events")).map((event) => ({
          id: textProperty(event, "event_id") ?? "",
          type: textProperty(event, "type") ?? "",
          at: textProperty(event, "created_at") ?? "",
          callback: async () => callbackOf(event),
        }));
        cursor = textProperty(json, "cursor");
        yield { events, next: cursor };
      } while (cursor !== undefined);
    },
  };
}
