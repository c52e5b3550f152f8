import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * GoCardless: after a failure all events of a callback come again. Source: gocardless-nodejs `webhooks.ts`; GoCardless,
 * "Staying up-to-date with webhooks" (204) and "Webhook retries / failures". Of 8 retries only the first three have a
 * documented delay.
 */
export const gocardless = hmacPreset("gocardless", {
  title: "GoCardless",
  docs: "https://developer.gocardless.com/getting-started/staying-up-to-date-with-webhooks/",
  proof: "verifies",
  deadlineSeconds: 10,
  signature: { header: "Webhook-Signature", encoding: "hex" },
  id: "item.id",
  type: "{item.resource_type}.{item.action}",
  eventTime: { at: "item.created_at", unit: "iso" },
  hasSignedTime: true,
  batch: { at: "body.events" },
  responses: { received: { status: 204 } },
});
