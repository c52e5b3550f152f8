import { SVIX_FACTS, standardPreset } from "../presets/standard.ts";

/**
 * Clerk: delivered by Svix, with `svix-…` headers. Source: @clerk/backend `src/webhooks.ts`,
 * `src/api/resources/Webhooks.ts`.
 */
export const clerk = standardPreset({
  preset: "clerk",
  facts: {
    title: "Clerk",
    docs: "https://clerk.com/docs/guides/development/webhooks/overview",
    proof: "verifies",
    ...SVIX_FACTS,
  },
  headers: "svix",
  contract: {
    type: "body.type",
    eventTime: { at: "body.timestamp", unit: "milliseconds" },
    hasSignedTime: true,
  },
});
