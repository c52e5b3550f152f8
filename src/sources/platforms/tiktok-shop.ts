import { optionError } from "../option-error.ts";
import { hmacPreset } from "../presets/hmac-preset.ts";
import { requireText } from "../presets/options.ts";
import type { PresetOptions } from "../presets/secrets.ts";

export interface TikTokShopOptions extends PresetOptions {
  /** As the Partner Center shows it beside the app secret. */
  readonly appKey: string | undefined;
}

const APP_KEY = /^[\w-]+$/;

/**
 * TikTok Shop: `Authorization` holds only a signature; the secret is the app secret. The type is a number, of which
 * TikTok documents no complete list: give each topic an address of its own. Success is 200 without a body. It tries
 * again after 2 minutes, 30 minutes, 3 hours and 12 hours. Source: TikTok Shop Partner Center, "Webhooks overview" and
 * "Configure webhooks".
 */
export const tiktokShop = hmacPreset<TikTokShopOptions>("tiktok-shop", {
  options: { appKey: "required" },
  title: "TikTok Shop",
  docs: "https://partner.tiktokshop.com/docv2/page/tts-webhooks-overview",
  deadlineSeconds: 3,
  retryHours: 15.5,
  signature: { header: "Authorization", encoding: "hex" },
  signed: "app_key{body}",
  made({ appKey }) {
    const key = requireText("appKey", appKey, "6d1k8a9f2h3j4");
    // A brace would be a placeholder.
    if (!APP_KEY.test(key)) throw optionError("appKey", "a text with other characters", "letters and digits");
    return { signed: `${key}{body}` };
  },
  id: "body.tts_notification_id",
  type: "body.type",
  eventTime: { at: "body.timestamp", unit: "seconds" },
  responses: { received: { body: "" } },
});
