import { sign } from "node:crypto";
import { verifyKey } from "discord-interactions";
import { discord } from "../../src/sources/platforms/index.ts";
import { keyPairs, rawEd25519 } from "../key-pairs.ts";
import type { PlatformProof, ProofEvent, ProofRequest } from "../platform-proof.ts";

const keys = keyPairs("ed25519", (key) => rawEd25519(key).toString("hex"));

function signed(body: Uint8Array, { secret, now }: ProofEvent): ProofRequest {
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const signature = sign(null, Buffer.concat([Buffer.from(timestamp), body]), keys.privateKeyOf(secret));
  return {
    headers: {
      "x-signature-ed25519": signature.toString("hex"),
      "x-signature-timestamp": timestamp,
      "content-type": "application/json",
    },
    body,
  };
}

const json = (value: object) => Buffer.from(JSON.stringify(value));

export const discordProof: PlatformProof = {
  preset: "discord",
  by: "discord-interactions, verifyKey",
  secrets: keys.publicKeys,
  source: (publicKey) => discord({ publicKey }),
  signed,
  callback: (event) =>
    signed(json({ id: event.id, application_id: "1", type: 2, token: "t", version: 1, data: {} }), event),
  accepts: ({ headers, body }, { secret }) =>
    verifyKey(body, headers["x-signature-ed25519"] ?? "", headers["x-signature-timestamp"] ?? "", secret),
  toleranceSeconds: null,
  handshakes: [
    {
      title: "PING of the interactions address",
      request: (event) => signed(json({ id: "1", application_id: "1", type: 1, token: "t", version: 1 }), event),
      response: { status: 200, body: '{"type":1}' },
    },
    {
      title: "PING of the address of webhook events",
      request: (event) => signed(json({ version: 1, application_id: "1", type: 0 }), event),
      response: { status: 204, body: "" },
    },
  ],
};
