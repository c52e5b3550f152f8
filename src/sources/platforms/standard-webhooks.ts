import { standardSenders } from "../presets/standard.ts";

/**
 * Any sender that follows Standard Webhooks: `webhook-signature: v1,…`, HMAC-SHA256 over `id.timestamp.body` with the key
 * behind `whsec_`. The body is `{ type, timestamp, data }`, as the specification recommends. Source: standard-webhooks
 * spec/standard-webhooks.md; standardwebhooks (npm) `dist/index.js`.
 */
export const standardWebhooks = standardSenders("standard-webhooks", {
  docs: "https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md",
  proof: "signs",
});
