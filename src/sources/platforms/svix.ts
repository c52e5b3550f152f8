import { SVIX_FACTS, standardSenders } from "../presets/standard.ts";

/**
 * Any sender that Svix delivers for: Standard Webhooks under `svix-id`, `svix-timestamp` and `svix-signature`, or under
 * `webhook-…`. If both are there, `svix-…` counts. Source: svix (npm) `src/webhook.ts`.
 */
export const svix = standardSenders("svix", {
  docs: "https://docs.svix.com/receiving/verifying-payloads/how-manual",
  proof: "signs",
  ...SVIX_FACTS,
  prefix: "svix",
});
