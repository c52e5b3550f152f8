import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Box: each of the two signatures has a key of its own. Give both as `secret`. One that fits is enough. Source:
 * box-node-sdk `managers/webhooks.ts`, which refuses what is older than ten minutes; Box, "V2 webhooks": a retry is
 * sent under another `BOX-DELIVERY-ID`, while the body's `id` stays.
 */
export const box = hmacPreset("box", {
  docs: "https://developer.box.com/guides/webhooks/v2/signatures-v2/",
  proof: "verifies",
  deadlineSeconds: 30,
  retryHours: 2,
  renewsTimestamp: true,
  signature: { header: ["BOX-SIGNATURE-PRIMARY", "BOX-SIGNATURE-SECONDARY"], encoding: "base64" },
  signed: "{body}{timestamp}",
  timestamp: { header: "BOX-DELIVERY-TIMESTAMP", unit: "iso", toleranceSeconds: 600 },
  id: "body.id",
  type: "body.trigger",
  eventTime: { at: "body.created_at", unit: "iso" },
  hasSignedTime: true,
});
