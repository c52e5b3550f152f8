import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Customer.io's reporting webhooks. Source: Customer.io, "Reporting webhooks" (Securely verify requests). It is not
 * documented that a retry has a new timestamp, so the age is not checked.
 */
export const customerIo = hmacPreset("customer-io", {
  title: "Customer.io",
  docs: "https://docs.customer.io/journeys/webhooks/",
  deadlineSeconds: 4,
  retryHours: 168,
  signature: { header: "X-CIO-Signature", encoding: "hex" },
  signed: "v0:{timestamp}:{body}",
  timestamp: { header: "X-CIO-Timestamp", unit: "seconds", toleranceSeconds: null },
  id: "body.event_id",
  type: "{body.object_type}.{body.metric}",
  eventTime: { at: "body.timestamp", unit: "seconds" },
});
