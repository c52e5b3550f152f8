import { propertyName } from "../contract/reading.ts";
import { hmacPreset } from "../presets/hmac-preset.ts";
import type { FixedSecretOptions } from "../presets/secrets.ts";

const EVENTS = /^[a-z_]+_events?$/;

/**
 * X (Twitter), Account Activity API: the key is the app's consumer secret. Two events with equal bytes count as one. X
 * asks the address by GET for a proof of the secret (CRC) at its registration and about every hour. X documents no
 * retry. Source: X, "Account Activity API" and its webhooks (CRC).
 */
export const x = hmacPreset<FixedSecretOptions>("x", {
  title: "X (Twitter)",
  docs: "https://docs.x.com/x-api/account-activity/introduction",
  identity: { why: "no id of a callback; the body has the ids and times of its activities" },
  deadlineSeconds: 10,
  disables: "a failed check of the address, until it succeeds again",
  signature: { header: "x-twitter-webhooks-signature", encoding: "base64", prefix: "sha256=" },
  id: "sha256",
  // `tweet_create_events`, which holds what happened; other properties say to whom.
  type: propertyName((name) => EVENTS.test(name)),
  handshakes: [
    {
      isSigned: false,
      method: "GET",
      when: { "query.crc_token": true },
      reply: {
        kind: "json",
        fields: { response_token: { hmac: "query.crc_token", encoding: "base64", prefix: "sha256=" } },
      },
    },
  ],
});
