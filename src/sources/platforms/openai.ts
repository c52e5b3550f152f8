import { standardPreset } from "../presets/standard.ts";
import { WHSEC, whsecKey } from "../schemes/secret-keys.ts";

/**
 * OpenAI: unlike the libraries of Standard Webhooks, the SDK takes a secret without `whsec_` as UTF-8. So does this
 * preset. Source: openai-node `src/resources/webhooks/webhooks.ts`, `src/lib/webhook-signature.ts`.
 */
export const openai = standardPreset("openai", {
  title: "OpenAI",
  docs: "https://platform.openai.com/docs/guides/webhooks",
  proof: "verifies",
  key: (secret) => (WHSEC.test(secret) ? whsecKey(secret) : Buffer.from(secret, "utf8")),
  type: "body.type",
  eventTime: { at: "body.created_at", unit: "seconds" },
  hasSignedTime: true,
});
