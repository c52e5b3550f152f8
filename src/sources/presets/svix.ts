import { hmacPreset } from "./preset.ts";
import { type StandardOptions, SVIX_FACTS, standardContract, standardScheme } from "./standard.ts";

/**
 * Any sender that Svix delivers for: Standard Webhooks under `svix-id`, `svix-timestamp` and `svix-signature`, or under
 * `webhook-…`. Where both are there, `svix-…` counts. Source: svix (npm) `src/webhook.ts`.
 */
export const svix = hmacPreset<StandardOptions>({
  preset: "svix",
  own: { type: true },
  facts: {
    title: "Svix",
    docs: "https://docs.svix.com/receiving/verifying-payloads/how-manual",
    proof: "signs",
    renewsTimestamp: true,
    ...SVIX_FACTS,
  },
  scheme: standardScheme("svix"),
  contract: standardContract("svix"),
});
