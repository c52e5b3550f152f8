import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Vercel: the key is the webhook's secret, or the integration's client secret. Log drains have other bodies. Source:
 * Vercel, "Webhooks API reference" (Securing webhooks).
 */
export const vercel = hmacPreset("vercel", {
  docs: "https://vercel.com/docs/webhooks/webhooks-api",
  algorithm: "sha1",
  signature: { header: "x-vercel-signature", encoding: "hex" },
  id: "body.id",
  type: "body.type",
  eventTime: { at: "body.createdAt", unit: "milliseconds" },
});
