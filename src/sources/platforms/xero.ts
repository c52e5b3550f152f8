import { hmacPreset } from "../presets/hmac-preset.ts";

const EMPTY = { body: "" } as const;

/**
 * Xero: a callback has several events without an id: resource, time and type name one. The "intent to receive" sends
 * callbacks without events, some of them signed wrongly. The right ones return 200, the others 401. No response may
 * have a body. Source: Xero, "Configuring your server"; XeroAPI/XeroWebhooksReceiver `Helpers/SignatureVerifier.cs`.
 * The proof is the vector of calcinai/xero-php.
 */
export const xero = hmacPreset("xero", {
  docs: "https://developer.xero.com/documentation/guides/webhooks/configuring-your-server/",
  proof: "community",
  deadlineSeconds: 5,
  retryHours: 24,
  disables: "24 hours of failures",
  signature: { header: "x-xero-signature", encoding: "base64" },
  id: "{item.resourceId}.{item.eventDateUtc}.{item.eventType}",
  type: "{item.eventCategory}.{item.eventType}",
  eventTime: { at: "item.eventDateUtc", unit: "iso" },
  batch: { at: "body.events" },
  responses: { received: EMPTY, refused: EMPTY, failed: EMPTY },
});
