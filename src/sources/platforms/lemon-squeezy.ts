import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Lemon Squeezy: two events with equal bytes count as one. Only a response with 200 counts. Source: Lemon Squeezy,
 * "Signing and validating webhook requests" and "Webhook requests".
 */
export const lemonSqueezy = hmacPreset("lemon-squeezy", {
  docs: "https://docs.lemonsqueezy.com/help/webhooks/signing-requests",
  identity: { why: "no id; the body has the object and its `updated_at`" },
  signature: { header: "X-Signature", encoding: "hex" },
  id: "sha256",
  type: "body.meta.event_name",
});
