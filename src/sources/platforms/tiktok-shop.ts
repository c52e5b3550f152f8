import { requireText } from "../presets/jwt-preset.ts";
import { hmacPreset, type PresetOptions } from "../presets/preset.ts";

export interface TikTokShopOptions extends PresetOptions {
  /** As the Partner Center shows it beside the app secret. */
  readonly appKey: string | undefined;
}

const EMPTY = { body: "" } as const;
const APP_KEY = /^[\w-]+$/;

/**
 * TikTok Shop: `Authorization` holds a signature alone, HMAC-SHA256 in hex over the app key and the body; the secret is the
 * app secret. The type is a number, of which TikTok documents no complete list: give each topic an address of its own.
 * Success is 200 without a body. It tries again after 2 minutes, 30 minutes, 3 hours and 12 hours.
 * Source: TikTok Shop Partner Center, "Webhooks overview" and "Configure webhooks".
 */
export const tiktokShop = hmacPreset<TikTokShopOptions>({
  preset: "tiktok-shop",
  own: { appKey: "required" },
  facts: {
    title: "TikTok Shop",
    docs: "https://partner.tiktokshop.com/docv2/page/tts-webhooks-overview",
    deadlineSeconds: 3,
    retryHours: 15.5,
  },
  example: { appKey: "app_key" },
  scheme({ appKey }) {
    const key = requireText("tiktok-shop", "appKey", appKey, "6d1k8a9f2h3j4");
    // A brace would be a placeholder.
    if (!APP_KEY.test(key))
      throw new TypeError(
        "tiktok-shop: `appKey`: got a text with other characters, expected letters and digits",
      );
    return { signature: { header: "Authorization", encoding: "hex" }, signed: `${key}{body}` };
  },
  contract: {
    id: "body.tts_notification_id",
    type: "body.type",
    eventTime: { at: "body.timestamp", unit: "seconds" },
    responses: { received: EMPTY },
  },
});
