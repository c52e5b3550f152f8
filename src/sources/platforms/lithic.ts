import { SVIX_FACTS, standardPreset } from "../presets/standard.ts";

/** Lithic: delivered by Svix. Source: lithic-node `src/resources/webhooks.ts`. */
export const lithic = standardPreset("lithic", {
  docs: "https://docs.lithic.com/docs/events-api",
  proof: "verifies",
  ...SVIX_FACTS,
  type: "body.event_type",
});
