import { SVIX_FACTS, standardPreset } from "../presets/standard.ts";

/** Resend: delivered by Svix. Source: resend-node `src/webhooks/webhooks.ts`. */
export const resend = standardPreset("resend", {
  docs: "https://resend.com/docs/dashboard/webhooks/verify-webhooks-requests",
  proof: "verifies",
  ...SVIX_FACTS,
  prefix: "svix",
  type: "body.type",
  eventTime: { at: "body.created_at", unit: "iso" },
  hasSignedTime: true,
});
