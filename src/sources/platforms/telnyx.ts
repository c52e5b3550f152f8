import { publicKeyPreset } from "../presets/public-key-preset.ts";

/**
 * Telnyx: the key is the public key of the portal. Source: telnyx-node `src/lib/webhooks.ts`, which refuses a timestamp
 * more than 300 s away, both ways. It is "when the webhook was sent" (developers.telnyx.com, "Callbacks"). Some
 * products send their event without `data` around it, and a few without an id. After a failure the failover address is
 * tried.
 */
export const telnyx = publicKeyPreset("telnyx", {
  docs: "https://developers.telnyx.com/development/api-fundamentals/webhooks/receiving-webhooks",
  proof: "verifies",
  deadlineSeconds: 2,
  takesPublicKey: true,
  algorithm: "ed25519",
  signature: { header: "Telnyx-Signature-Ed25519", encoding: "base64" },
  signed: "{timestamp}|{body}",
  timestamp: { header: "Telnyx-Timestamp", unit: "seconds", toleranceSeconds: 300 },
  id: ["body.data.id", "body.id", "sha256"],
  type: ["body.data.event_type", "body.event_type", "body.data.record_type", "body.record_type"],
  eventTime: { at: "body.data.occurred_at", unit: "iso" },
  data: ["body.data", "body"],
});
