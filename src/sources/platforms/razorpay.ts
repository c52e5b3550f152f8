import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Razorpay: a retry is signed with the first try's secret. Keep the previous one for a day after a change. Source:
 * razorpay `utils/razorpay-utils.js`; Razorpay, "Validate and test webhooks" and "Webhooks FAQ".
 */
export const razorpay = hmacPreset("razorpay", {
  docs: "https://razorpay.com/docs/webhooks/validate-test/",
  proof: "verifies",
  identity: {
    why: "`x-razorpay-event-id` is unique per event, to identify duplicates by; without it the bytes are the key",
    source: "https://razorpay.com/docs/webhooks/best-practices/",
  },
  retryHours: 24,
  disables: "24 hours of failures",
  signature: { header: "X-Razorpay-Signature", encoding: "hex" },
  id: ["header.x-razorpay-event-id", "sha256"],
  type: "body.event",
  eventTime: { at: "body.created_at", unit: "seconds" },
});
