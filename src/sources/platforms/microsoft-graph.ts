import { isJsonObject, type JsonObject, type JsonValue, ownValue } from "../../domain/index.ts";
import { echoOf } from "../contract/handshakes.ts";
import { bodyTokenPreset } from "../presets/token-preset.ts";

/** The `clientState` of each notification; SharePoint sends the same. */
export function statesOf(body: JsonObject): (JsonValue | undefined)[] {
  const items = ownValue(body, "value");
  if (!Array.isArray(items)) return [];
  return items.map((item) => (isJsonObject(item) ? ownValue(item, "clientState") : undefined));
}

/**
 * Change and lifecycle notifications of Microsoft Graph: each item holds the subscription's `clientState` (`secret`). A
 * new subscription's address is checked by a POST with `validationToken`. Items without an `id` get a new one at each
 * delivery. Two equal ones may be two changes, and none may be lost. Resource data stays encrypted: this preset reads
 * neither `encryptedContent` nor `validationTokens`. Source:
 * https://learn.microsoft.com/graph/change-notifications-delivery-webhooks.
 */
export const microsoftGraph = bodyTokenPreset("microsoft-graph", {
  docs: "https://learn.microsoft.com/graph/change-notifications-delivery-webhooks",
  identity: { why: "an item without an `id` is a hint, and an event at each delivery" },
  deadlineSeconds: 10,
  retryHours: 4,
  disables: "notifications are dropped while over 15 % of the responses in 10 minutes take over 10 s",
  name: "clientState",
  read: statesOf,
  id: ["{item.subscriptionId}:{item.id}", "delivery"],
  type: ["item.lifecycleEvent", "item.changeType"],
  batch: { at: "body.value" },
  handshakes: [echoOf("query.validationToken")],
  responses: { received: { status: 202 } },
});
