import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Linear: only a response with 200 counts; it tries again after a minute, an hour and six hours. Source: @linear/sdk
 * `webhooks/client.ts`; Linear, "Webhooks". The SDK refuses a body whose `webhookTimestamp` is more than 60 s off. It
 * is not documented that a retry has a new one, so the age is not checked here.
 */
export const linear = hmacPreset("linear", {
  docs: "https://linear.app/developers/webhooks",
  proof: "verifies",
  identity: { why: "`Linear-Delivery` uniquely identifies the payload" },
  deadlineSeconds: 5,
  retryHours: 7.1,
  disables: "an endpoint that keeps failing",
  signature: { header: "Linear-Signature", encoding: "hex" },
  id: "header.Linear-Delivery",
  type: ["{body.type}.{body.action}", "body.type"],
  eventTime: { at: "body.webhookTimestamp", unit: "milliseconds" },
  hasSignedTime: true,
});
