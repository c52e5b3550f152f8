import { tokenOrSignaturePreset } from "./token-preset.ts";

/**
 * Flutterwave v4: `flutterwave-signature`, HMAC-SHA256 in base64 over the body; the key is the secret hash of the
 * dashboard. v3 sends that hash as it is, in `verif-hash`, and signs nothing: `verify: "token"`. An event may come again:
 * type, object and status name it. Source: Flutterwave, "Webhooks" (Best practices: verify signatures, rely on
 * idempotency). The form of v4's signature is also what public handlers compare.
 */
export const flutterwave = tokenOrSignaturePreset({
  preset: "flutterwave",
  facts: {
    title: "Flutterwave",
    docs: "https://developer.flutterwave.com/docs/webhooks",
    proof: "documented",
  },
  contract: {
    id: [
      "{body.type}.{body.data.id}.{body.data.status}",
      "{body.event}.{body.data.id}.{body.data.status}",
      "sha256",
    ],
    type: ["body.type", "body.event"],
  },
  usual: "signature",
  signature: {
    scheme: { signature: { header: "flutterwave-signature", encoding: "base64" }, signed: "{body}" },
  },
  token: { header: "verif-hash" },
});
