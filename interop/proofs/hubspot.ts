import { createRequire } from "node:module";
import { hubspot } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";

interface Sdk {
  readonly Signature: {
    getSignature(method: string, version: "v3", options: object): string;
  };
}

const { Signature } = createRequire(import.meta.url)("@hubspot/api-client") as Sdk;

export const hubspotProof: PlatformProof = {
  preset: "hubspot",
  by: "@hubspot/api-client, Signature.getSignature",
  secrets: ["11111111-2222-3333-4444-555555555555", "a client secret of before", "a client secret of long ago"],
  source: (secret) => hubspot({ secret }),
  callback({ secret, id, now, url }) {
    const occurredAt = now.getTime();
    const event = {
      eventId: id,
      subscriptionId: 11,
      portalId: 62515,
      appId: 54321,
      occurredAt,
      attemptNumber: 0,
    };
    const requestBody = JSON.stringify([{ ...event, subscriptionType: "contact.creation", objectId: 123 }]);
    const signed = { clientSecret: secret, url, requestBody, timestamp: now.getTime() };
    return {
      headers: {
        "x-hubspot-signature-v3": Signature.getSignature("POST", "v3", signed),
        "x-hubspot-request-timestamp": String(now.getTime()),
        "content-type": "application/json",
      },
      body: Buffer.from(requestBody),
    };
  },
  toleranceSeconds: null,
};
