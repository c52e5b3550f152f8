import { hmacPreset } from "../../presets/hmac-preset.ts";

/**
 * Adyen's webhooks with a `HmacSignature` header (platforms, transfers, management). They name one resource again and
 * again. Source: adyen-node-api-library `src/utils/hmacValidator.ts`, `validateHMACSignature`;
 * docs.adyen.com/platforms, "Manage webhooks" and "Webhook structures and types".
 */
export const adyenPlatform = hmacPreset("adyen-platform", {
  title: "Adyen for Platforms",
  docs: "https://docs.adyen.com/development-resources/webhooks/secure-webhooks/verify-hmac-signatures",
  proof: "signs",
  identity: { why: "no id; the body has its time and the object" },
  deadlineSeconds: 10,
  retryHours: 720,
  key: "hex",
  signature: { header: "HmacSignature", encoding: "base64" },
  id: "sha256",
  type: "body.type",
  eventTime: { at: "body.timestamp", unit: "iso" },
  responses: { received: { body: "[accepted]" } },
});
