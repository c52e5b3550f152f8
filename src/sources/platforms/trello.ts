import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Trello: the key is the app's secret. The URL is the one that is registered: `CALLBACK_BASE_URL` must have the same
 * protocol and host. It tries again after 30, 60 and 120 seconds. Source: Trello, "Webhooks" (Webhook signatures).
 */
export const trello = hmacPreset("trello", {
  docs: "https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks/",
  retryHours: 0.1,
  algorithm: "sha1",
  signature: { header: "X-Trello-Webhook", encoding: "base64" },
  signed: "{body}{url}",
  id: "body.action.id",
  type: "body.action.type",
  eventTime: { at: "body.action.date", unit: "iso" },
  handshakes: [{ isSigned: false, method: "HEAD", reply: { kind: "status", status: 200 } }],
});
