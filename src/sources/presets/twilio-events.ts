import { createTwilioScheme } from "../schemes/twilio.ts";
import type { SourceDefinition } from "../source-definition.ts";
import { defineSource, type PresetOptions, secretsOf } from "./preset.ts";

/**
 * Twilio's Event Streams with a webhook sink: an array of CloudEvents, signed as Twilio's other JSON by
 * `X-Twilio-Signature` over the address with the hash of the body in it. The secret is the account's auth token. Source:
 * twilio-node `src/webhooks/webhooks.ts`; twilio.com/docs/events/webhook-quickstart (5 s).
 * @throws TypeError that names the option that is wrong
 */
export function twilioEvents(options: PresetOptions): SourceDefinition {
  const authTokens = secretsOf("twilio-events", options.secret);
  return defineSource({
    preset: "twilio-events",
    facts: {
      title: "Twilio Event Streams",
      docs: "https://www.twilio.com/docs/events/webhook-quickstart",
      proof: "signs",
      deadlineSeconds: 5,
    },
    settings: options,
    secrets: authTokens,
    scheme: ({ origin }) => createTwilioScheme({ authTokens, origin }),
    contract: {
      batch: { at: "body" },
      id: "item.id",
      type: "item.type",
      timestamp: { at: "item.time", unit: "iso" },
    },
  });
}
