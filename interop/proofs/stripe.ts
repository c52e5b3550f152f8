import Stripe from "stripe";
import { stripe } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";

const sdk = new Stripe("sk_test_unused");

export const stripeProof: PlatformProof = {
  preset: "stripe",
  by: "stripe, webhooks.generateTestHeaderString",
  secrets: ["whsec_first_of_the_rotation", "whsec_in_the_middle_of_it", "whsec_last_of_the_rotation"],
  source: (secrets) => stripe({ secret: secrets }),
  callback({ secret, id, now }) {
    const timestamp = Math.floor(now.getTime() / 1000);
    const event = {
      id,
      object: "event",
      type: "invoice.paid",
      created: timestamp,
      data: { object: { id: "in_1" } },
    };
    const payload = JSON.stringify(event, null, 2);
    const signature = sdk.webhooks.generateTestHeaderString({ payload, secret, timestamp });
    return {
      headers: { "stripe-signature": signature, "content-type": "application/json; charset=utf-8" },
      body: Buffer.from(payload),
    };
  },
  toleranceSeconds: 300,
};
