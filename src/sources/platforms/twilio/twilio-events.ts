import { secretPreset } from "../../presets/secret-preset.ts";
import { createTwilioScheme } from "./twilio-scheme.ts";

/**
 * Twilio's Event Streams with a webhook sink: CloudEvents, signed as Twilio's other JSON. The secret is the account's
 * auth token. Source: twilio-node `src/webhooks/webhooks.ts`; twilio.com/docs/events/webhook-quickstart (5 s).
 */
export const twilioEvents = secretPreset("twilio-events", {
  title: "Twilio Event Streams",
  docs: "https://www.twilio.com/docs/events/webhook-quickstart",
  proof: "signs",
  deadlineSeconds: 5,
  signs: "HMAC-SHA1 over the address, which holds the SHA-256 of the body",
  batch: { at: "body" },
  id: "item.id",
  type: "item.type",
  eventTime: { at: "item.time", unit: "iso" },
  signsPath: true,
  signsAddress: true,
  credential: { headers: ["X-Twilio-Signature"] },
  scheme: (authTokens, { origin }) => createTwilioScheme({ authTokens, origin }),
});
