import { sha256Hex } from "../formats/parse-body.ts";
import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Walmart Marketplace: the timestamp is the event's; Walmart advises a window of five minutes, and retries after 5, 15
 * and 45, so that no age is checked. Id and type stand in `source` or at the top: the published examples have both.
 * Source: Walmart, "Security and authenticity" and "Subscribe to an event notification".
 */
export const walmart = hmacPreset("walmart", {
  title: "Walmart Marketplace",
  docs: "https://developer.walmart.com/us-marketplace/docs/security-and-authenticity",
  deadlineSeconds: 3,
  retryHours: 1.1,
  signature: { header: "WM_SEC.SIGNATURE", encoding: "base64" },
  signed: "{method}\n{target}\n{timestamp}\n{bodyHash}",
  parts: { bodyHash: ({ body }) => sha256Hex(body) },
  timestamp: { header: "WM_SEC.TIMESTAMP", unit: "seconds", toleranceSeconds: null },
  id: ["body.source.eventId", "body.eventId", "sha256"],
  type: ["body.source.eventType", "body.eventType"],
  eventTime: { at: "body.source.eventTime", unit: "iso" },
});
