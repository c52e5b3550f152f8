import { publicKeyPreset } from "../presets/public-key-preset.ts";

/**
 * SendGrid's event webhook: the line break at the end of the body is signed too. `sg_event_id` names an event where it
 * is there. The key is the verification key of the webhook's settings. Source: @sendgrid/eventwebhook
 * `src/eventwebhook.js`; twilio.com/docs/sendgrid, "Event Webhook Security Features" and "Troubleshooting".
 */
export const sendgrid = publicKeyPreset("sendgrid", {
  title: "SendGrid",
  docs: "https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features",
  proof: "verifies",
  retryHours: 24,
  takesPublicKey: true,
  algorithm: "ecdsa-p256-sha256",
  signature: { header: "X-Twilio-Email-Event-Webhook-Signature", encoding: "base64" },
  signed: "{timestamp}{body}",
  timestamp: { header: "X-Twilio-Email-Event-Webhook-Timestamp", unit: "seconds", toleranceSeconds: null },
  batch: { at: "body" },
  id: ["item.sg_event_id", "sha256"],
  type: "item.event",
  eventTime: { at: "item.timestamp", unit: "seconds" },
  hasSignedTime: true,
});
