import { hmacPreset } from "../presets/hmac-preset.ts";
import { assertOneOf } from "../presets/options.ts";
import type { PresetOptions } from "../presets/secrets.ts";

export interface CloudinaryOptions extends PresetOptions {
  /** The signature algorithm of the account. Default: `sha1`. */
  readonly algorithm?: "sha1" | "sha256";
}

/**
 * Cloudinary's notifications: a plain hash with the API secret. This is no HMAC, though its documentation calls it one;
 * the secret stands last, so that nothing can be appended. The SDK refuses what is older than two hours. Source:
 * cloudinary `lib/utils/index.js` (`webhook_signature`, `verifyNotificationSignature`); Cloudinary, "Notifications".
 */
export const cloudinary = hmacPreset<CloudinaryOptions>("cloudinary", {
  docs: "https://cloudinary.com/documentation/notifications",
  proof: "signs",
  identity: { why: "no id; the body has its time and `request_id`" },
  options: { algorithm: "optional" },
  algorithm: "plain-sha1",
  signature: { header: "X-Cld-Signature", encoding: "hex" },
  signed: "{body}{timestamp}{secret}",
  timestamp: { header: "X-Cld-Timestamp", unit: "seconds", toleranceSeconds: 7_200, direction: "past" },
  made({ algorithm = "sha1" }) {
    assertOneOf("algorithm", algorithm, ["sha1", "sha256"]);
    return { algorithm: `plain-${algorithm}` };
  },
  id: "sha256",
  type: "body.notification_type",
  eventTime: { at: "body.timestamp", unit: "iso" },
});
