import { hmacPreset } from "./preset.ts";

/**
 * Revolut (Merchant and Business): `Revolut-Signature: v1=…`, HMAC-SHA256 over `v1`, `Revolut-Request-Timestamp` and the
 * body, with dots between them; several may stand there, with commas, while the secret (`wsk_…`) is rotated. An event has
 * no id; the body's hash takes its place, so that a second event of an order is a duplicate where both say the same. It
 * tries again three times, ten minutes apart. Revolut advises to refuse times that are five minutes off, and does not
 * document that a retry has a new one, so that no age is checked.
 * Source: Revolut, "Verify the payload signature" and "Use webhooks" (Merchant API).
 */
export const revolut = hmacPreset({
  preset: "revolut",
  facts: {
    title: "Revolut",
    docs: "https://developer.revolut.com/docs/guides/merchant/monitor-and-observe/webhooks/using-webhooks",
    proof: "documented",
    identity: { why: "no id; the body has its time in microseconds, and the signed time is of the sending" },
    retryHours: 0.5,
  },
  scheme: {
    signature: {
      header: "Revolut-Signature",
      encoding: "hex",
      fields: { separator: ",", assignment: "=", value: "v1" },
    },
    signed: "v1.{timestamp}.{body}",
    timestamp: { header: "Revolut-Request-Timestamp", unit: "milliseconds", toleranceSeconds: null },
  },
  contract: {
    id: "sha256",
    type: "body.event",
    eventTime: { at: "body.timestamp", unit: "iso" },
  },
});
