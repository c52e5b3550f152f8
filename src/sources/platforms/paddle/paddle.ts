import { hmacPreset, type ReconcilingOptions } from "../../presets/hmac-preset.ts";
import { paddleEvents } from "./paddle-events.ts";

export type { ReconcilingOptions as PaddleOptions } from "../../presets/hmac-preset.ts";

/**
 * Paddle Billing: while a secret is rotated there are several `h1`; the SDK looks only at the last one. Only a response
 * with 200 counts. Source: @paddle/paddle-node-sdk `notifications/helpers/webhooks-validator.ts`; Paddle, "Verify
 * webhook signatures". The SDK takes times up to 5 s old, so each try is signed with a new time. This preset takes 300
 * s, which a slow network and a clock that is off do not exceed. Records keep out replays.
 */
export const paddle = hmacPreset<ReconcilingOptions>("paddle", {
  docs: "https://developer.paddle.com/webhooks/signature-verification",
  proof: "verifies",
  deadlineSeconds: 5,
  retryHours: 72,
  renewsTimestamp: true,
  signature: {
    header: "Paddle-Signature",
    encoding: "hex",
    fields: { separator: ";", assignment: "=", value: "h1", timestamp: "ts" },
  },
  signed: "{timestamp}:{body}",
  timestamp: { unit: "seconds", toleranceSeconds: 300, direction: "past" },
  id: "body.event_id",
  type: "body.event_type",
  eventTime: { at: "body.occurred_at", unit: "iso" },
  hasSignedTime: true,
  reconcile: paddleEvents,
});
