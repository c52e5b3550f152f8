import { createHash, createHmac } from "node:crypto";
import { mailgun } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";

export const mailgunProof: PlatformProof = {
  preset: "mailgun",
  by: "the vector of mailgun-php, tests/Api/WebhookTest.php; no SDK of Mailgun for Node verifies",
  secrets: ["key-first-of-the-signing-keys", "key-second-of-the-keys", "key-third-of-the-keys"],
  source: (secrets) => mailgun({ secret: secrets }),
  callback({ secret, id, now }) {
    const timestamp = String(Math.floor(now.getTime() / 1000));
    const token = createHash("sha256").update(id).digest("hex").slice(0, 50);
    const signature = createHmac("sha256", secret)
      .update(timestamp + token)
      .digest("hex");
    const body = {
      signature: { timestamp, token, signature },
      "event-data": { event: "delivered", timestamp: now.getTime() / 1000, id, recipient: "a@example.com" },
    };
    return {
      headers: { "content-type": "application/json" },
      body: Buffer.from(JSON.stringify(body)),
    };
  },
  vector: () => ({
    secret: "key-3ax6xnjp29jd6fds4gc373sgvjxteol0",
    now: new Date(),
    request: {
      headers: { "content-type": "application/json" },
      body: Buffer.from(
        JSON.stringify({
          signature: {
            timestamp: "1403645220",
            token: "5egbgr1vjgqxtrnp65xfznchgdccwh5d6i09vijqi3whgowmn6",
            signature: "9cfc5c41582e51246e73c88d34db3af0a3a2692a76fbab81492842f000256d33",
          },
          "event-data": { event: "delivered" },
        }),
      ),
    },
  }),
  toleranceSeconds: null,
  signsBody: false,
  isSignedInBody: true,
};
