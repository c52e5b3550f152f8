import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * PagerDuty's webhooks of version 3: one `v1` for each secret while it is rotated. Source: PagerDuty, "Webhook
 * signatures".
 */
export const pagerduty = hmacPreset("pagerduty", {
  title: "PagerDuty",
  docs: "https://developer.pagerduty.com/docs/webhooks/webhook-signatures/",
  signature: {
    header: "X-PagerDuty-Signature",
    encoding: "hex",
    fields: { separator: ",", assignment: "=", value: "v1" },
  },
  id: "body.event.id",
  type: "body.event.event_type",
  eventTime: { at: "body.event.occurred_at", unit: "iso" },
  data: "body.event",
});
