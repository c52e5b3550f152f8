import { v2 as sdk } from "cloudinary";
import { cloudinary } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";

function proofWith(algorithm: "sha1" | "sha256"): PlatformProof {
  const optionsOf = (secret: string) => ({ api_secret: secret, signature_algorithm: algorithm });
  return {
    preset: "cloudinary",
    by: `cloudinary, utils.webhook_signature and utils.verifyNotificationSignature, ${algorithm}`,
    secrets: ["abcdefghijklmnopqrstuvwxyz1", "abcdefghijklmnopqrstuvwxyz2", "abcdefghijklmnopqrstuvwxyz3"],
    source: (secrets) => cloudinary({ secret: secrets, algorithm }),
    callback({ secret, id, now }) {
      const payload = JSON.stringify({
        notification_type: "upload",
        timestamp: now.toISOString(),
        public_id: `grüße/${id}`,
      });
      const timestamp = Math.floor(now.getTime() / 1000);
      return {
        headers: {
          "x-cld-timestamp": String(timestamp),
          "x-cld-signature": sdk.utils.webhook_signature(payload, timestamp, optionsOf(secret)),
          "content-type": "application/json",
        },
        body: Buffer.from(payload),
      };
    },
    accepts({ headers, body }, { secret }) {
      sdk.config(optionsOf(secret));
      return sdk.utils.verifyNotificationSignature(
        Buffer.from(body).toString(),
        Number(headers["x-cld-timestamp"]),
        headers["x-cld-signature"] ?? "",
      );
    },
    toleranceSeconds: 7_200,
  };
}

export const cloudinaryProof: PlatformProof = proofWith("sha1");

export const cloudinarySha256Proof: PlatformProof = proofWith("sha256");
