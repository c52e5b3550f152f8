import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Sanity: the body is what the webhook's projection makes, so that the operation stands only in an unsigned header. No
 * age is checked, as in the SDK. Source: @sanity/webhook `src/signature.ts`; https://www.sanity.io/docs/webhooks; its
 * changelog of 2026-04-29.
 */
export const sanity = hmacPreset("sanity", {
  docs: "https://www.sanity.io/docs/webhooks",
  proof: "signs",
  identity: { why: "`idempotency-key` is there to deduplicate; without it what was signed is the key, with its time" },
  deadlineSeconds: 30,
  // Twice, 30 seconds apart.
  retryHours: 1 / 60,
  signature: {
    header: "sanity-webhook-signature",
    encoding: "base64url",
    fields: { separator: ",", assignment: "=", value: "v1", timestamp: "t" },
  },
  signed: "{timestamp}.{body}",
  timestamp: { unit: "milliseconds", toleranceSeconds: null },
  id: ["header.idempotency-key", "sha256"],
  type: ["{body._type}.{header.sanity-operation}", "header.sanity-operation", "body._type", "=document"],
  eventTime: { at: "header.sanity-transaction-time", unit: "iso" },
  headers: ["sanity-operation", "sanity-document-id", "sanity-project-id", "sanity-dataset", "sanity-transaction-time"],
});
