import { hmacPreset } from "../presets/hmac-preset.ts";

/**
 * Mollie's next-generation webhooks. The header may stand several times while a secret is rotated. The classic webhook,
 * a form with `id=tr_…`, is not signed and therefore refused. Source: mollie-api-typescript `signature_validator.ts`,
 * which is the proof, and mollie-api-php `Webhooks/SignatureValidator.php`; Mollie, "Webhooks".
 */
export const mollie = hmacPreset("mollie", {
  docs: "https://docs.mollie.com/reference/webhooks-new",
  proof: "signs",
  deadlineSeconds: 15,
  signature: {
    header: "X-Mollie-Signature",
    encoding: "hex",
    prefix: "sha256=",
    isPrefixOptional: true,
    mayRepeat: true,
  },
  id: "body.id",
  type: "body.type",
  eventTime: { at: "body.createdAt", unit: "iso" },
  hasSignedTime: true,
});
