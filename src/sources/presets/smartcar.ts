import type { Handshake } from "../contract/handshakes.ts";
import { hmacPreset } from "./preset.ts";

/** Asked before the signature, which is not documented for it: a challenge is no JSON, so that no event can be signed. */
function verification(secret: string): Handshake {
  return {
    isSigned: false,
    when: { "body.eventType": "VERIFY" },
    reply: {
      kind: "json",
      fields: { challenge: { hmac: "body.data.challenge", secret, encoding: "hex" } },
    },
  };
}

/**
 * Smartcar: `SC-Signature`, HMAC-SHA256 over the body; the key is the application management token. `eventId` stays on a
 * retry, while `deliveryId` does not. A new address is sent `VERIFY`, and must prove that it knows the token.
 * Source: smartcar `index.js` (`verifyPayload`, `hashChallenge`); Smartcar, "Webhooks".
 */
export const smartcar = hmacPreset({
  preset: "smartcar",
  facts: {
    title: "Smartcar",
    docs: "https://smartcar.com/docs/integrations/webhooks/overview",
    proof: "verifies",
    deadlineSeconds: 15,
  },
  scheme: { signature: { header: "SC-Signature", encoding: "hex" }, signed: "{body}" },
  contract: (_options, [secret = ""]) => ({
    id: "body.eventId",
    type: "body.eventType",
    handshakes: [verification(secret)],
  }),
});
