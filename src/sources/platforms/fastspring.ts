import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * FastSpring: a webhook without a secret is not signed. Automatic retries keep the ids of their events until the
 * response is 200. A retry by hand has new ones, and is another event. Source: FastSpring, "Message security" and
 * "Webhooks overview".
 */
export const fastspring = hmacPreset("fastspring", {
  title: "FastSpring",
  docs: "https://developer.fastspring.com/docs/message-security",
  signature: { header: "X-FS-Signature", encoding: "base64" },
  id: "item.id",
  type: "item.type",
  eventTime: { at: "item.created", unit: "milliseconds" },
  batch: { at: "body.events" },
});
