import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * LINE: the key is the channel secret. A callback has no event where the console verifies the address. Source:
 * @line/bot-sdk `validate-signature.ts` and `webhook/model/event.ts`; LINE, "Verify webhook signature" and "Receiving
 * messages" (suspension).
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
