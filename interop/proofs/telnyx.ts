import { sign } from "node:crypto";
import { TelnyxWebhook } from "telnyx/lib/webhooks";
import { telnyx } from "../../src/sources/platforms/index.ts";
import { keyPairs, rawEd25519 } from "../key-pairs.ts";
import type { PlatformProof, ProofEvent, ProofRequest } from "../platform-proof.ts";

const keys = keyPairs("ed25519", (key) => rawEd25519(key).toString("base64"));

function signed(body: Uint8Array, { secret, now }: ProofEvent): ProofRequest {
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const signature = sign(null, Buffer.concat([Buffer.from(`${timestamp}|`), body]), keys.privateKeyOf(secret));
  return {
    headers: {
      "telnyx-signature-ed25519": signature.toString("base64"),
      "telnyx-timestamp": timestamp,
      "content-type": "application/json",
    },
    body,
  };
}

export const telnyxProof: PlatformProof = {
  preset: "telnyx",
  by: "telnyx, TelnyxWebhook.verify",
  secrets: keys.publicKeys,
  source: (publicKey) => telnyx({ publicKey }),
  signed,
  callback(event) {
    const occurred_at = event.now.toISOString();
    const data = {
      record_type: "event",
      event_type: "call.answered",
      id: event.id,
      occurred_at,
      payload: {},
    };
    return signed(Buffer.from(JSON.stringify({ data })), event);
  },
  async accepts({ headers, body }, { secret }) {
    const text = Buffer.from(body).toString("utf8");
    return new TelnyxWebhook(secret).verify(text, { ...headers }).then(
      () => true,
      () => false,
    );
  },
  toleranceSeconds: 300,
};
