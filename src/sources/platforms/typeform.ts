import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Typeform: without a secret in the webhook's settings it sends no signature, and is refused. Source: Typeform, "Secure
 * your webhooks" and "Webhooks".
 */
export const typeform = hmacPreset("typeform", {
  docs: "https://www.typeform.com/developers/webhooks/secure-your-webhooks/",
  deadlineSeconds: 30,
  retryHours: 10,
  disables: "404 and 410 at once; nothing but failures for 24 hours",
  signature: { header: "Typeform-Signature", encoding: "base64", prefix: "sha256=" },
  id: "body.event_id",
  type: "body.event_type",
  eventTime: { at: "body.form_response.submitted_at", unit: "iso" },
});
