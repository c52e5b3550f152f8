import { standardPreset } from "./standard.ts";

/**
 * Brex: Standard Webhooks; `GET /v1/webhooks/secrets` shows the secret, base64 without `whsec_`. Source: Brex API, Webhooks.
 */
export const brex = standardPreset({
  preset: "brex",
  facts: {
    title: "Brex",
    docs: "https://developer.brex.com/docs/webhooks/",
    proof: "documented",
  },
  headers: "webhook",
  contract: { type: "body.event_type" },
});
