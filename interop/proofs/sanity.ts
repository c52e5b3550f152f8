import { encodeSignatureHeader } from "@sanity/webhook";
import { sanity } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";

export const sanityProof: PlatformProof = {
  preset: "sanity",
  by: "@sanity/webhook, encodeSignatureHeader",
  secrets: ["first secret of the webhook", "second secret of the webhook", "third secret of the webhook"],
  source: (secrets) => sanity({ secret: secrets }),
  async callback({ secret, id, now }) {
    const payload = JSON.stringify({ _id: "d1", _type: "post", title: `Grüße ${id}` });
    return {
      headers: {
        "sanity-webhook-signature": await encodeSignatureHeader(payload, now.getTime(), secret),
        "sanity-operation": "update",
        "idempotency-key": id,
        "content-type": "application/json",
      },
      body: Buffer.from(payload),
    };
  },
  toleranceSeconds: null,
};
