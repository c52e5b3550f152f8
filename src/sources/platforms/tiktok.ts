import { hmacPreset } from "../presets/hmac-preset.ts";
import { timedFields } from "../presets/standard.ts";

/**
 * TikTok for Developers (Login Kit, Content Posting, Data Portability): the key is the app's client secret. `content`
 * is JSON in a text, which handlers see as an object. TikTok documents no window, and retries for 72 hours, so that no
 * age is checked. Source: TikTok, "Webhooks overview" and "Webhooks verification". TikTok Shop is another preset.
 */
export const tiktok = hmacPreset("tiktok", {
  title: "TikTok",
  docs: "https://developers.tiktok.com/doc/webhooks-verification",
  identity: { why: "no id; the body has `create_time`" },
  retryHours: 72,
  signature: timedFields("TikTok-Signature", "s"),
  signed: "{timestamp}.{body}",
  timestamp: { unit: "seconds", toleranceSeconds: null },
  id: "sha256",
  type: "body.event",
  eventTime: { at: "body.create_time", unit: "seconds" },
  decode: [{ at: "body.content", as: "json" }],
});
