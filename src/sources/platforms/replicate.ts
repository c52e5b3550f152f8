import { standardPreset } from "../presets/standard.ts";

/**
 * Replicate: the body is the prediction, and its status is the event's type: `starting`, `processing`, `succeeded`,
 * `failed` or `canceled`. Several callbacks of one prediction have different `webhook-id`s. Source:
 * replicate-javascript `lib/util.js`; https://replicate.com/docs/topics/webhooks/receive-webhook.
 */
export const replicate = standardPreset("replicate", {
  docs: "https://replicate.com/docs/topics/webhooks/verify-webhook",
  proof: "verifies",
  type: "body.status",
});
