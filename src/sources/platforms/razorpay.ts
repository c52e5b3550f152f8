import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Razorpay: `X-Razorpay-Signature`, HMAC-SHA256 over the body. The event's id stands in a header that is not signed and
 * may be missing. The hash of the body takes its place then. A retry is signed with the first try's secret, so keep the
 * previous one for a day after a change.
 * Source: razorpay `utils/razorpay-utils.js`; Razorpay, "Validate and test webhooks" and "Webhooks FAQ".
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
