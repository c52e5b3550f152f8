import { tokenPreset } from "../presets/token-preset.ts";

/**
 * Cloudflare's notifications, with the secret that you set for the destination. An alert's start and end share
 * `alert_correlation_id`, which is therefore no id. The test of a destination has no type: `test`. Source: Cloudflare
 * Notifications, "Configure webhooks" and "Webhook payload schema".
 */
export const cloudflare = tokenPreset("cloudflare", {
  docs: "https://developers.cloudflare.com/notifications/reference/webhook-payload-schema/",
  identity: { why: "no id; the body has its time" },
  header: "cf-webhook-auth",
  id: "sha256",
  type: ["body.alert_type", "=test"],
  eventTime: { at: "body.ts", unit: "seconds" },
});
