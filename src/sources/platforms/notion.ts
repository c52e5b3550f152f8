import { hmacPreset } from "../presets/hmac-preset.ts";
import type { LearningOptions } from "../presets/secrets.ts";

/**
 * Notion: the key is the verification token. Notion sends that token itself, unsigned, in the first POST of a
 * subscription. Source: notion-sdk-js `src/webhooks.ts`; https://developers.notion.com/reference/webhooks.
 */
export const notion = hmacPreset<LearningOptions>("notion", {
  docs: "https://developers.notion.com/reference/webhooks",
  proof: "signs",
  signature: { header: "X-Notion-Signature", encoding: "hex", prefix: "sha256=", anyCase: true },
  id: "body.id",
  type: "body.type",
  eventTime: { at: "body.timestamp", unit: "iso" },
  hasSignedTime: true,
  handshakes: [
    {
      isSigned: false,
      when: { "body.verification_token": true },
      without: "X-Notion-Signature",
      reply: { kind: "learn", at: "body.verification_token" },
    },
  ],
});
