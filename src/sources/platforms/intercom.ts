import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Intercom: the key is the app's client secret. A new address is asked by HEAD, and its `ping` tests one. A failed
 * callback is sent again once, after a minute. Source: Intercom, "Setting up webhooks" and "Webhook notifications"
 * (signed notifications); intercom-archive/intercom-webhooks. No SDK of Intercom verifies, and no published sample has
 * its secret.
 */
export const intercom = hmacPreset("intercom", {
  docs: "https://developers.intercom.com/docs/webhooks/webhook-notifications",
  deadlineSeconds: 5,
  retryHours: 1 / 60,
  disables: "410 at once; seven days of errors; 1000 errors in a row within 15 minutes pause it for 15 minutes",
  algorithm: "sha1",
  signature: { header: "X-Hub-Signature", encoding: "hex", prefix: "sha1=" },
  id: "body.id",
  type: "body.topic",
  eventTime: { at: "body.created_at", unit: "seconds" },
  handshakes: [
    { isSigned: false, method: "HEAD", reply: { kind: "status", status: 200 } },
    { isSigned: true, when: { "body.topic": "ping" }, reply: { kind: "status", status: 200 } },
  ],
});
