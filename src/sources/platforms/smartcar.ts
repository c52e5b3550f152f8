import type { Handshake } from "../contract/handshakes.ts";
import { hmacPreset } from "../presets/hmac-preset.ts";
import type { FixedSecretOptions } from "../presets/secrets.ts";

/** Asked before the signature, which is not documented for it. A challenge is no JSON, so that no event is signed. */
function verification(when: Record<string, string>, challenge: string): Handshake {
  return {
    isSigned: false,
    when,
    reply: { kind: "json", fields: { challenge: { hmac: challenge, encoding: "hex" } } },
  };
}

/**
 * Smartcar: the key is the application management token. `eventId` stays on a retry, while `deliveryId` does not. A new
 * address is sent `VERIFY` (in version 2.0 `verify`), and must prove that it knows the token. Source: smartcar
 * `index.js` (`verifyPayload`, `hashChallenge`); Smartcar, "Payload verification", "Callback URI verification".
 */
export const smartcar = hmacPreset<FixedSecretOptions>("smartcar", {
  docs: "https://smartcar.com/docs/integrations/webhooks/payload-verification",
  proof: "verifies",
  deadlineSeconds: 15,
  signature: { header: "SC-Signature", encoding: "hex" },
  id: ["body.eventId", "sha256"],
  type: ["body.eventType", "body.eventName"],
  handshakes: [
    verification({ "body.eventType": "VERIFY" }, "body.data.challenge"),
    verification({ "body.eventName": "verify" }, "body.payload.challenge"),
  ],
});
