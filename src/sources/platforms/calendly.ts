import { hmacPreset } from "../presets/hmac-preset.ts";
import { timedFields } from "../presets/standard.ts";

/**
 * Calendly. Source: Calendly, "Webhook signatures". Its sample refuses what is older than three minutes. It is not
 * documented that a retry has a new timestamp, so the age is not checked.
 */
export const calendly = hmacPreset("calendly", {
  docs: "https://developer.calendly.com/api-docs/4c305798a61d3-webhook-signatures",
  identity: { why: "no id; the body has `created_at` in microseconds" },
  signature: timedFields("Calendly-Webhook-Signature"),
  signed: "{timestamp}.{body}",
  timestamp: { unit: "seconds", toleranceSeconds: null },
  id: "sha256",
  type: "body.event",
  eventTime: { at: "body.created_at", unit: "iso" },
});
