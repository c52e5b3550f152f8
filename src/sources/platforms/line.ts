import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * LINE: `x-line-signature`, HMAC-SHA256 in base64 over the body; the key is the channel secret. A callback has several
 * events, or none where the console verifies the address. An event that is sent again has the same `webhookEventId`.
 * Source: @line/bot-sdk `validate-signature.ts` and `webhook/model/event.ts`; LINE, "Verify webhook signature" and
 * "Receiving messages" (suspension).
 */
export const line = hmacPreset("line", {
  title: "LINE",
  docs: "https://developers.line.biz/en/docs/messaging-api/verify-webhook-signature/",
  proof: "verifies",
  disables: "failures over a long time, which may suspend an endpoint",
  signature: { header: "x-line-signature", encoding: "base64" },
  id: "item.webhookEventId",
  type: "item.type",
  eventTime: { at: "item.timestamp", unit: "milliseconds" },
  hasSignedTime: true,
  batch: { at: "body.events" },
});
