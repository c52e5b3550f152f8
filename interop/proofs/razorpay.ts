import Razorpay from "razorpay";
import { razorpay } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";
import { signedByPreset } from "../signed-by-preset.ts";

export const razorpayProof: PlatformProof = {
  preset: "razorpay",
  by: "razorpay, validateWebhookSignature",
  secrets: ["a webhook secret", "another webhook secret", "a third webhook secret"],
  source: (secrets) => razorpay({ secret: secrets }),
  callback: (event) =>
    signedByPreset(razorpay({ secret: event.secret }), event, {
      headers: { "x-razorpay-event-id": event.id },
      body: JSON.stringify({
        entity: "event",
        account_id: "acc_BFQ7uQEaa7j2z7",
        event: "payment.captured",
        contains: ["payment"],
        payload: { payment: { entity: { id: "pay_DESlfW9H8K9uqM", notes: ["₹"] } } },
        created_at: Math.floor(event.now.getTime() / 1000),
      }),
    }),
  accepts: ({ headers, body }, { secret }) =>
    Razorpay.validateWebhookSignature(Buffer.from(body).toString(), headers["x-razorpay-signature"] ?? "", secret),
  toleranceSeconds: null,
};
