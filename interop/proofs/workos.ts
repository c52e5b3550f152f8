import { WorkOS } from "@workos-inc/node";
import { workos } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";

const sdk = new WorkOS("sk_test_unused");

export const workosProof: PlatformProof = {
  preset: "workos",
  by: "@workos-inc/node, webhooks.computeSignature and webhooks.verifyHeader",
  secrets: ["aXc3MFvSnDeLgwKhjuE7dqHXl", "second_secret_of_the_endpoint", "third_secret_of_the_endpoint"],
  source: (secrets) => workos({ secret: secrets }),
  async callback({ secret, id, now }) {
    const payload = JSON.stringify({
      id,
      event: "dsync.user.created",
      data: { id: "directory_user_1" },
      created_at: now.toISOString(),
    });
    const time = now.getTime();
    const signature = await sdk.webhooks.computeSignature(time, payload, secret);
    return {
      headers: { "workos-signature": `t=${time}, v1=${signature}`, "content-type": "application/json" },
      body: Buffer.from(payload),
    };
  },
  async accepts({ headers, body }, { secret }) {
    const sigHeader = headers["workos-signature"] ?? "";
    const payload = Buffer.from(body);
    return sdk.webhooks.verifyHeader({ payload, sigHeader, secret }).catch(() => false);
  },
  toleranceSeconds: null,
};
