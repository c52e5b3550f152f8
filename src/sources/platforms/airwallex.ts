import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Airwallex: each address has a secret of its own, and the id stays on a retry. It retries until the response is 200.
 * It does not document that a retry has a new timestamp, so no age is checked. Source: Airwallex, "Webhooks overview"
 * and "Listen for webhook events" (Check webhook signatures).
 */
export const airwallex = hmacPreset("airwallex", {
  docs: "https://www.airwallex.com/docs/developer-tools/webhooks/listen-for-webhook-events",
  retryHours: 72,
  signature: { header: "x-signature", encoding: "hex" },
  signed: "{timestamp}{body}",
  timestamp: { header: "x-timestamp", unit: "milliseconds", toleranceSeconds: null },
  id: "body.id",
  type: "body.name",
  eventTime: { at: "body.created_at", unit: "iso" },
});
