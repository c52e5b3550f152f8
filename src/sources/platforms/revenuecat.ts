import { timedFields } from "../presets/standard.ts";
import { tokenOrSignaturePreset } from "../presets/token-preset.ts";

/**
 * RevenueCat: `Authorization` holds the text that you enter there, as it is, and nothing is signed (the default). With
 * signing enabled, `verify: "signature"`: several `v1` while the secret is rotated. It does not document that a retry
 * has a new time, so that no age is checked. Source: RevenueCat, "Webhooks" (Security and best practices).
 */
export const revenuecat = tokenOrSignaturePreset("revenuecat", {
  title: "RevenueCat",
  docs: "https://www.revenuecat.com/docs/integrations/webhooks",
  id: "body.event.id",
  type: "body.event.type",
  eventTime: { at: "body.event.event_timestamp_ms", unit: "milliseconds" },
  data: "body.event",
  usual: "token",
  token: { header: "Authorization" },
  signature: timedFields("X-RevenueCat-Webhook-Signature"),
  signed: "{timestamp}.{body}",
  timestamp: { unit: "seconds", toleranceSeconds: null },
});
