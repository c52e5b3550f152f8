import { hmacPreset } from "../presets/hmac-preset.ts";
import type { LearningOptions } from "../presets/secrets.ts";

/**
 * Asana: the key is the `X-Hook-Secret` that Asana sends, unsigned, when a webhook is made, and wants to read back.
 * Each webhook has a key of its own. A callback has several events without an id. Every eight hours one without events
 * is a sign of life. Source: Asana, "Webhooks" (webhooks guide) and "Establish a webhook".
 */
export const asana = hmacPreset<LearningOptions>("asana", {
  docs: "https://developers.asana.com/docs/webhooks-guide",
  deadlineSeconds: 10,
  retryHours: 24,
  disables: "24 hours without success; 410 at once",
  signature: { header: "X-Hook-Signature", encoding: "hex" },
  id: "{item.resource.gid}.{item.action}.{item.created_at}.{sha256}",
  type: "{item.resource.resource_type}.{item.action}",
  eventTime: { at: "item.created_at", unit: "iso" },
  hasSignedTime: true,
  batch: { at: "body.events" },
  handshakes: [
    {
      isSigned: false,
      when: { "header.X-Hook-Secret": true },
      without: "X-Hook-Signature",
      reply: { kind: "learn", at: "header.X-Hook-Secret", header: "X-Hook-Secret" },
    },
  ],
});
