import { basicPreset } from "../presets/token-preset.ts";

/**
 * Chargebee: basic authentication, which you set for the webhook. The id stays on a retry. Source: Chargebee, "Webhook
 * settings" and "Events" of its API.
 */
export const chargebee = basicPreset("chargebee", {
  docs: "https://www.chargebee.com/docs/2.0/webhook_settings.html",
  id: "body.id",
  type: "body.event_type",
  eventTime: { at: "body.occurred_at", unit: "seconds" },
  data: ["body.content", "body"],
});
