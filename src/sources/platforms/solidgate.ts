import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Solidgate: the digest is in hex, and that text in base64. The public key (`wh_pk_…`) comes in `merchant`; the secret
 * is the webhook's secret key (`wh_sk_…`). It tries again eight times, after 15 minutes to 24 hours. Source:
 * @solidgate/node-sdk (its signing of requests); Solidgate, "Webhooks".
 */
export const solidgate = hmacPreset("solidgate", {
  docs: "https://docs.solidgate.com/payments/integrate/webhooks/",
  identity: {
    why: "the event id is there to deduplicate deliveries",
    source: "https://api-docs.solidgate.com/api/v2/idempotent-requests",
  },
  deadlineSeconds: 30,
  retryHours: 55.75,
  algorithm: "sha512",
  signature: { header: "signature", encoding: "base64-of-hex" },
  signed: "{header.merchant}{body}{header.merchant}",
  id: "header.solidgate-event-id",
  type: "header.solidgate-event-type",
  bytesScope: "header.solidgate-event-type",
  headers: ["solidgate-event-created-at"],
});
