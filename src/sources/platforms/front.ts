import type { Handshake } from "../contract/handshakes.ts";
import { hmacPreset } from "../presets/hmac-preset.ts";

const CHALLENGE: Omit<Handshake, "isSigned"> = {
  when: { "header.X-Front-Challenge": true },
  reply: { kind: "json", fields: { challenge: "header.X-Front-Challenge" } },
};

/**
 * Front's application webhooks. A new address is sent `X-Front-Challenge`, and echoes it: asked before the signature,
 * where the body is small. It is not documented that a retry has a new timestamp, so no age is checked. Source: Front,
 * "Application webhooks".
 */
export const front = hmacPreset("front", {
  docs: "https://dev.frontapp.com/docs/application-webhooks",
  identity: { why: "no id of its own; the body has the event and its time" },
  deadlineSeconds: 10,
  disables: "three failed retries",
  signature: { header: "X-Front-Signature", encoding: "base64" },
  signed: "{header.X-Front-Request-Timestamp}:{body}",
  id: "sha256",
  renewsTimestamp: true,
  type: "body.type",
  handshakes: [
    { ...CHALLENGE, isSigned: false },
    { ...CHALLENGE, isSigned: true },
  ],
});
