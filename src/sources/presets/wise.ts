import { publicKeyPreset } from "./public-key-preset.ts";

/**
 * Wise: `X-Signature-SHA256`, RSA-SHA256 in base64 over the body; the key is the public key of the environment, which
 * Wise publishes. `X-Delivery-Id` is not signed. When a subscription is made a test is sent, with `X-Test-Notification`.
 * Source: docs.wise.com, "How to create a webhook event handler" (2xx within 5 s, 25 tries in two weeks);
 * transferwise/digital-signatures-examples `verify-webhook-signature`.
 */
export const wise = publicKeyPreset({
  preset: "wise",
  facts: {
    title: "Wise",
    docs: "https://docs.wise.com/guides/developer/webhooks/event-handling",
    proof: "documented",
    deadlineSeconds: 5,
    retryHours: 336,
  },
  scheme: {
    algorithm: "rsa-sha256",
    signature: { header: "X-Signature-SHA256", encoding: "base64" },
    signed: "{body}",
  },
  contract: {
    id: "header.X-Delivery-Id",
    identity: "bytes",
    type: "body.event_type",
    eventTime: { at: "body.data.occurred_at", unit: "iso" },
    handshakes: [
      {
        isSigned: true,
        when: { "header.X-Test-Notification": "true" },
        reply: { kind: "status", status: 200 },
      },
    ],
  },
});
