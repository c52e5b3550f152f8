import sdk from "smartcar";
import { smartcar } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";
import { signedByPreset } from "../signed-by-preset.ts";

const SECRETS = [
  "9c0b1a2d-3e4f-4a5b-8c6d-7e8f9a0b1c2d",
  "1d2c3b4a-5f6e-4b7a-9d8c-0f1e2d3c4b5a",
  "5a4b3c2d-1e0f-4c9d-8b7a-6f5e4d3c2b1a",
] as const;

export const smartcarProof: PlatformProof = {
  preset: "smartcar",
  by: "smartcar, verifyPayload and hashChallenge; the values of its own test",
  secrets: SECRETS,
  source: (secrets) => smartcar({ secret: secrets }),
  callback: (event) =>
    signedByPreset(smartcar({ secret: event.secret }), event, {
      body: JSON.stringify({
        eventId: event.id,
        eventType: "VEHICLE_STATE",
        data: { vehicle: { id: "36ab27d0-fd9d-4455-823a-ce30af709ffc", make: "Škoda" } },
      }),
    }),
  accepts({ headers, body }, { secret }) {
    try {
      const signature = headers["sc-signature"] ?? "";
      return sdk.verifyPayload(secret, signature, JSON.parse(Buffer.from(body).toString()));
    } catch {
      return false;
    }
  },
  vector: () => ({
    // node-sdk, test/unit/index.js, verifyPayload.
    secret: "amt",
    now: new Date(),
    request: {
      headers: { "sc-signature": "4c05a8da471f05156ad717baa4017acd13a3a809850b9ca7d3301dcaaa854f70" },
      body: Buffer.from('{"pizza":"pasta"}'),
    },
  }),
  toleranceSeconds: null,
  handshakes: [
    {
      title: "VERIFY",
      request: () => ({
        headers: { "content-type": "application/json" },
        body: Buffer.from('{"eventType":"VERIFY","data":{"challenge":"nsQsLU7wY9WKt2IU"}}'),
      }),
      response: {
        status: 200,
        body: JSON.stringify({ challenge: sdk.hashChallenge(SECRETS[0], "nsQsLU7wY9WKt2IU") }),
      },
    },
    {
      title: "verify of version 2.0",
      request: () => ({
        headers: { "content-type": "application/json" },
        body: Buffer.from('{"version":"2.0","eventName":"verify","payload":{"challenge":"3a5c8f7b"}}'),
      }),
      response: {
        status: 200,
        body: JSON.stringify({ challenge: sdk.hashChallenge(SECRETS[0], "3a5c8f7b") }),
      },
    },
  ],
};
