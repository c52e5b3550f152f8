import { WebhooksHelper } from "square";
import { square } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";
import { signedByPreset } from "../signed-by-preset.ts";

export const squareProof: PlatformProof = {
  preset: "square",
  by: "square, WebhooksHelper.verifySignature",
  secrets: ["asdf1234-signature-key", "wv5hEAGpv9wH5uXbFSYrYA", "2mtPcZ9bUsxqT1R4dSZVkw"],
  source: (secrets) => square({ secret: secrets }),
  callback: (event) =>
    signedByPreset(square({ secret: event.secret }), event, {
      body: JSON.stringify({
        merchant_id: "MLEFBHHSJGVHD",
        type: "payment.updated",
        event_id: event.id,
        created_at: event.now.toISOString(),
        data: { type: "payment", id: "KkAkhdMsgzn59SM8A89WgKwekxLZY", object: { note: "crème brûlée" } },
      }),
    }),
  accepts: ({ headers, body }, { secret, url }) =>
    WebhooksHelper.verifySignature({
      requestBody: Buffer.from(body).toString(),
      signatureHeader: headers["x-square-hmacsha256-signature"] ?? "",
      signatureKey: secret,
      notificationUrl: url,
    }),
  toleranceSeconds: null,
};
