import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Commerce Layer: the key is the webhook's shared secret. It tries again up to ten times. Source: Commerce Layer,
 * "Real-time webhooks" and "Callbacks security".
 */
export const commerceLayer = hmacPreset("commerce-layer", {
  docs: "https://docs.commercelayer.io/core/callbacks-security",
  identity: { why: "no id; a body has its `updated_at`, and is sent for several topics" },
  deadlineSeconds: 5,
  disables: "30 failures in a row, until the circuit is reset by hand",
  signature: { header: "X-CommerceLayer-Signature", encoding: "base64" },
  id: "sha256",
  type: "header.X-CommerceLayer-Topic",
  bytesScope: "header.X-CommerceLayer-Topic",
});
