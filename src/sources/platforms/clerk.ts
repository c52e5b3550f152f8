import { SVIX_FACTS, standardPreset } from "../presets/standard.ts";

/** Clerk: delivered by Svix. Source: @clerk/backend `src/webhooks.ts`, `src/api/resources/Webhooks.ts`. */
export const clerk = standardPreset("clerk", {
  docs: "https://clerk.com/docs/guides/development/webhooks/overview",
  proof: "verifies",
  ...SVIX_FACTS,
  prefix: "svix",
  type: "body.type",
  eventTime: { at: "body.timestamp", unit: "milliseconds" },
  hasSignedTime: true,
});
