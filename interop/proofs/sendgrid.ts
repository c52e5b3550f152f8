import { sign } from "node:crypto";
import { EventWebhook } from "@sendgrid/eventwebhook";
import { sendgrid } from "../../src/sources/platforms/index.ts";
import { keyPairs, spki } from "../key-pairs.ts";
import type { PlatformProof, ProofEvent, ProofRequest } from "../platform-proof.ts";

const keys = keyPairs("p256", (key) => spki(key).toString("base64"));
const sdk = new EventWebhook();

function signed(body: Uint8Array, { secret, now }: ProofEvent): ProofRequest {
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const signature = sign("sha256", Buffer.concat([Buffer.from(timestamp), body]), keys.privateKeyOf(secret));
  return {
    headers: {
      "x-twilio-email-event-webhook-signature": signature.toString("base64"),
      "x-twilio-email-event-webhook-timestamp": timestamp,
      "content-type": "application/json",
    },
    body,
  };
}

export const sendgridProof: PlatformProof = {
  preset: "sendgrid",
  by: "@sendgrid/eventwebhook, verifySignature",
  secrets: keys.publicKeys,
  source: (publicKey) => sendgrid({ publicKey }),
  signed,
  callback(event) {
    const item = {
      email: "a@example.com",
      timestamp: 1_600_112_492,
      event: "delivered",
      sg_event_id: event.id,
    };
    return signed(Buffer.from(`${JSON.stringify([item])}\r\n`), event);
  },
  accepts({ headers, body }, { secret }) {
    const key = sdk.convertPublicKeyToECDSA(secret);
    const signature = headers["x-twilio-email-event-webhook-signature"] ?? "";
    const timestamp = headers["x-twilio-email-event-webhook-timestamp"] ?? "";
    return sdk.verifySignature(key, Buffer.from(body), signature, timestamp);
  },
  toleranceSeconds: null,
};
