import { createRequire } from "node:module";
import { braintree } from "../../src/sources/platforms/index.ts";
import type { PlatformProof, ProofEvent } from "../platform-proof.ts";

/** It has no types. */
interface Gateway {
  readonly webhookTesting: {
    sampleNotification(kind: string, id: string): Promise<{ bt_signature: string; bt_payload: string }>;
    sampleSignature(payload: string): Promise<string>;
  };
  readonly webhookNotification: { verify(challenge: string): string };
}
interface Braintree {
  readonly BraintreeGateway: new (options: object) => Gateway;
  readonly Environment: { readonly Sandbox: object };
}
const { BraintreeGateway, Environment } = createRequire(import.meta.url)("braintree") as Braintree;

const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/;
const keysOf = (privateKey: string) => ({ publicKey: `public_key_of_${privateKey}`, privateKey });

function gatewayOf(secret: string): Gateway {
  const { publicKey, privateKey } = keysOf(secret);
  return new BraintreeGateway({
    environment: Environment.Sandbox,
    merchantId: "integration_merchant_id",
    publicKey,
    privateKey,
  });
}

const CHALLENGE = "20f9f8ed05f77439fe955c977e4c8a53";

export const braintreeProof: PlatformProof = {
  preset: "braintree",
  by: "braintree, webhookTesting.sampleNotification and webhookNotification.verify",
  secrets: ["integration_private_key", "second_private_key", "third_private_key"],
  source: (secrets) => braintree({ keys: secrets.map(keysOf) }),
  async callback({ secret, id, now }) {
    const { webhookTesting } = gatewayOf(secret);
    const sample = await webhookTesting.sampleNotification("subscription_went_past_due", id);
    // The SDK's sample has the time of its making, and with it another id each second.
    const xml = Buffer.from(sample.bt_payload, "base64").toString("utf8").replace(TIME, now.toISOString());
    const payload = `${Buffer.from(xml).toString("base64")}\n`;
    const form = { bt_signature: await webhookTesting.sampleSignature(payload), bt_payload: payload };
    return {
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: Buffer.from(new URLSearchParams(form).toString()),
    };
  },
  isSignedInBody: true,
  toleranceSeconds: null,
  handshakes: [
    {
      title: "a challenge in a GET",
      request: () => ({
        method: "GET",
        query: `?bt_challenge=${CHALLENGE}`,
        headers: {},
        body: Buffer.of(),
      }),
      response: { status: 200, body: answerOf("integration_private_key") },
    },
  ],
};

function answerOf(secret: ProofEvent["secret"]): string {
  return gatewayOf(secret).webhookNotification.verify(CHALLENGE);
}
