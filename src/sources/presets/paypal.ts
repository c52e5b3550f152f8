import type { ContractData } from "../contract/event-contract.ts";
import { createPayPalScheme, type PayPalOptions as SchemeOptions } from "../schemes/paypal.ts";
import type { PlatformFacts, SourceDefinition, SourceSettings } from "../source-definition.ts";
import { describe } from "./describe.ts";
import { requiredTexts, type SecretOption } from "./given-secrets.ts";
import { defineSource } from "./preset.ts";
import { assertOptionNames } from "./source-settings.ts";

export interface PayPalOptions extends SourceSettings, Pick<SchemeOptions, "certificates"> {
  /** The webhook's id in PayPal's dashboard, which is signed; several while one replaces another. */
  readonly webhookId: SecretOption;
  /** Default: `live`. */
  readonly environment?: "live" | "sandbox";
}

const FACTS: PlatformFacts = {
  title: "PayPal",
  docs: "https://developer.paypal.com/api/rest/webhooks/rest/",
  proof: "verifies",
  identity: {
    why: "`id` is the event's, over all its transmissions; other bodies of the same checksum could have another one",
    source: "https://developer.paypal.com/api/rest/webhooks/rest/",
  },
  retryHours: 72,
  unsigned: "the body but for its CRC-32, which is no cryptographic hash",
};

const CONTRACT: ContractData = {
  id: "body.id",
  type: "body.event_type",
  eventTime: { at: "body.create_time", unit: "iso", isSigned: false },
  isIdSigned: false,
};

/**
 * PayPal: `PayPal-Transmission-Sig`, RSA-SHA256 over transmission id, time, webhook id and the CRC-32 of the body, with
 * the key of the certificate at `PayPal-Cert-Url`, whose host is pinned. **CRC-32 is no cryptographic hash**: a recorded
 * message can be given another body, so read what moves money from PayPal's API by the event's id. PayPal's simulator
 * signs with the webhook id `WEBHOOK_ID` and the live certificate. Source: PayPal-node-SDK 1.6.9 `Notification.js`,
 * whose vector is the proof, and PayPal-Python-SDK `notifications.py`; developer.paypal.com/api/rest/webhooks, "Self
 * verification" (25 tries within three days).
 * @throws TypeError that names the option that is wrong
 */
export function paypal(options: PayPalOptions): SourceDefinition {
  assertOptionNames("paypal", options, { webhookId: true, environment: true, certificates: true });
  const { environment = "live", certificates } = options;
  const webhookIds = requiredTexts("paypal", options.webhookId, "webhookId");
  if (environment !== "live" && environment !== "sandbox") {
    const got = JSON.stringify(environment);
    throw new TypeError(`paypal: \`environment\`: got ${got}, expected "live" or "sandbox"`);
  }
  return defineSource({
    preset: "paypal",
    facts: FACTS,
    settings: options,
    secrets: [],
    credential: { headers: ["PayPal-Transmission-Sig"] },
    scheme: ({ clock }) =>
      createPayPalScheme({
        webhookIds,
        environment,
        clock,
        ...(certificates !== undefined && { certificates }),
      }),
    contract: CONTRACT,
  });
}

paypal.describe = describe({
  preset: "paypal",
  facts: FACTS,
  signs: "RSA-SHA256 over id, time, webhook id and the CRC-32 of the body",
  contract: CONTRACT,
});
