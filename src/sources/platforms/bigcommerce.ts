import { standardPreset } from "../presets/standard.ts";

/**
 * BigCommerce: the secret is the app's client secret. Its UTF-8 bytes are the key, since the documentation gives
 * libraries its base64. The body is thin. Source: BigCommerce, Webhooks, HTTPS.
 */
export const bigcommerce = standardPreset("bigcommerce", {
  title: "BigCommerce",
  docs: "https://docs.bigcommerce.com/developer/docs/integrations/webhooks/https",
  retryHours: 48,
  disables: "all attempts of 48 hours fail",
  key: "text",
  type: "body.scope",
  eventTime: { at: "body.created_at", unit: "seconds" },
});
