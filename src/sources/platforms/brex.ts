import { standardPreset } from "../presets/standard.ts";

/**
 * Brex: `GET /v1/webhooks/secrets` shows the secret, with or without `whsec_`. Source:
 * https://developer.brex.com/docs/webhooks/; trigger.dev, "Brex HTTP endpoint".
 */
export const brex = standardPreset("brex", {
  docs: "https://developer.brex.com/docs/webhooks/",
  prefix: "svix",
  type: "body.event_type",
});
