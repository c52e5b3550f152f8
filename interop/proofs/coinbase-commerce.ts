import { createRequire } from "node:module";
import { coinbaseCommerce } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";

/** It has no types. */
interface CoinbaseCommerce {
  readonly Webhook: { computeSignature(payload: string, secret: string): string };
}
const { Webhook } = createRequire(import.meta.url)("coinbase-commerce-node") as CoinbaseCommerce;

export const coinbaseCommerceProof: PlatformProof = {
  preset: "coinbase-commerce",
  by: "coinbase-commerce-node, Webhook.computeSignature",
  secrets: ["30291a20-0bd1-4267-9b0f-e6e7123c0fd8", "second secret", "third secret"],
  source: (secrets) => coinbaseCommerce({ secret: secrets }),
  callback({ secret, id, now }) {
    const payload = JSON.stringify({
      id: 1,
      scheduled_for: now.toISOString(),
      event: { id, type: "charge:confirmed", created_at: now.toISOString(), data: { code: "66BEOV2A" } },
    });
    return {
      headers: {
        "x-cc-webhook-signature": Webhook.computeSignature(payload, secret),
        "content-type": "application/json",
      },
      body: Buffer.from(payload),
    };
  },
  toleranceSeconds: null,
};
