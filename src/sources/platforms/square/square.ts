import { hmacPreset, type ReconcilingOptions } from "../../presets/hmac-preset.ts";
import { squareEvents } from "./square-events.ts";

export type { ReconcilingOptions as SquareOptions } from "../../presets/hmac-preset.ts";

/**
 * Square: the signed URL is the one that is registered at Square: `CALLBACK_BASE_URL` must have the same protocol and
 * host. Source: square `wrapper/WebhooksHelper.ts`; Square, "Verify and validate an event notification".
 */
export const square = hmacPreset<ReconcilingOptions>("square", {
  docs: "https://developer.squareup.com/docs/webhooks/step3validate",
  proof: "verifies",
  deadlineSeconds: 10,
  retryHours: 24,
  signature: { header: "x-square-hmacsha256-signature", encoding: "base64" },
  signed: "{url}{body}",
  id: "body.event_id",
  type: "body.type",
  eventTime: { at: "body.created_at", unit: "iso" },
  headers: ["square-retry-number", "square-retry-reason", "square-initial-delivery-timestamp"],
  reconcile: squareEvents,
});
