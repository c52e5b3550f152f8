import { SignatureValidator } from "mollie-api-typescript";
import { mollie } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";

export const mollieProof: PlatformProof = {
  preset: "mollie",
  by: "mollie-api-typescript, SignatureValidator.createSignature and validate",
  secrets: ["a signing secret of the webhook", "the signing secret before it", "a third signing secret"],
  source: (secrets) => mollie({ secret: secrets }),
  async callback({ secret, id, now }) {
    const payload = JSON.stringify({
      resource: "event",
      id,
      type: "payment-link.paid",
      entityId: "pl_qng5gbbv8NAZ5gpM5ZYgx",
      createdAt: now.toISOString(),
      _embedded: { entity: { resource: "payment-link", description: "Gebühr, 10 €" } },
    });
    return {
      headers: {
        "x-mollie-signature": `sha256=${await SignatureValidator.createSignature(payload, secret)}`,
        "content-type": "application/json",
      },
      body: Buffer.from(payload),
    };
  },
  accepts: ({ headers, body }, { secret }) =>
    SignatureValidator.validate(Buffer.from(body).toString(), secret, headers["x-mollie-signature"]).catch(() => false),
  toleranceSeconds: null,
};
