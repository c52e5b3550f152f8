import { AppStrategy, createClient } from "@wix/sdk";
import { SignJWT } from "jose";
import { wix } from "../../src/sources/platforms/index.ts";
import { keyPairs } from "../key-pairs.ts";
import type { PlatformProof } from "../platform-proof.ts";

const { publicKeys, privateKeyOf } = keyPairs("rsa", (publicKey) =>
  publicKey.export({ type: "spki", format: "pem" }).toString(),
);

/** `exp` of the token in Wix's "Verify requests received from Wix" is so long after its `iat`. */
const TOKEN_SECONDS = 300_000;

/** Here a secret is the app's public key. */
export const wixProof: PlatformProof = {
  preset: "wix",
  by: "@wix/sdk, AppStrategy and webhooks.parseJWT",
  secrets: publicKeys,
  source: (publicKey) => wix({ publicKey }),
  async callback({ secret, id, now }) {
    const iat = Math.floor(now.getTime() / 1000);
    const event = {
      id,
      entityFqdn: "wix.ecom.v1.order",
      slug: "created",
      eventTime: now.toISOString(),
      createdEvent: { entity: { number: "10001", note: "grüße" } },
    };
    const data = JSON.stringify({
      instanceId: "8d8fc3a6-9b0d-4e3f-8d4f-5a0f1d6f1c11",
      eventType: "wix.ecom.v1.order_created",
      data: JSON.stringify(event),
    });
    const token = await new SignJWT({ data, iat, exp: iat + TOKEN_SECONDS })
      .setProtectedHeader({ alg: "RS256", kid: "qG1kD2dz" })
      .sign(privateKeyOf(secret));
    return { headers: { "content-type": "text/plain" }, body: Buffer.from(token) };
  },
  async accepts({ body }, { secret }) {
    const { webhooks } = createClient({ auth: AppStrategy({ appId: "app", publicKey: secret }) });
    try {
      const { eventType } = await webhooks.parseJWT(Buffer.from(body).toString());
      return eventType === "wix.ecom.v1.order_created";
    } catch {
      return false;
    }
  },
  isSignedInBody: true,
  // The token's life and the tolerance for clocks.
  toleranceSeconds: TOKEN_SECONDS + 10,
};
