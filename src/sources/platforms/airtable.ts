import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Airtable: the key is `macSecretBase64`, decoded. A callback says that a base has changes: read them by the webhook's
 * cursor. It wants 200 or 204 without a body. Source: Airtable, "Webhooks overview" (Webhook notification delivery).
 */
export const airtable = hmacPreset("airtable", {
  docs: "https://airtable.com/developers/web/api/webhooks-overview",
  deadlineSeconds: 25,
  retryHours: 24,
  disables: "13 failed tries; a webhook ends seven days after it was last refreshed",
  key: "base64",
  signature: { header: "X-Airtable-Content-MAC", encoding: "hex", prefix: "hmac-sha256=" },
  id: "{body.webhook.id}.{body.timestamp}",
  type: "=notification",
  eventTime: { at: "body.timestamp", unit: "iso" },
  responses: { received: { body: "" } },
});
