import { assertOneOf } from "../../presets/options.ts";
import { optionsPreset } from "../../presets/preset.ts";
import { requiredTexts, type SecretOption } from "../../presets/secrets.ts";
import type { SourceSettings } from "../../source-definition.ts";
import { createPayPalScheme, type PayPalOptions as SchemeOptions } from "./paypal-scheme.ts";

export interface PayPalOptions extends SourceSettings, Pick<SchemeOptions, "certificates"> {
  /** The webhook's id in PayPal's dashboard, which is signed; several while one replaces another. */
  readonly webhookId: SecretOption;
  /** Default: `live`. */
  readonly environment?: "live" | "sandbox";
}

/**
 * PayPal: `PayPal-Transmission-Sig`, RSA-SHA256 over transmission id, time, webhook id and the CRC-32 of the body. Its
 * key is that of the certificate at `PayPal-Cert-Url`, whose host is pinned. Note that **CRC-32 is no cryptographic
 * hash**: a recorded message can be given another body. So read what moves money from PayPal's API by the event's id.
 * PayPal's simulator signs with the webhook id `WEBHOOK_ID` and the live certificate. Source: PayPal-node-SDK 1.6.9
 * `Notification.js`, whose vector is the proof, and PayPal-Python-SDK `notifications.py`;
 * developer.paypal.com/api/rest/webhooks, "Self verification" (25 tries within three days).
 */
export const paypal = optionsPreset<PayPalOptions>("paypal", {
  title: "PayPal",
  docs: "https://developer.paypal.com/api/rest/webhooks/rest/",
  proof: "verifies",
  identity: {
    why: "`id` is the event's, over all its transmissions; other bodies of the same checksum could have another one",
    source: "https://developer.paypal.com/api/rest/webhooks/rest/",
  },
  retryHours: 72,
  unsigned: "the body but for its CRC-32, which is no cryptographic hash",
  signs: "RSA-SHA256 over id, time, webhook id and the CRC-32 of the body",
  id: "body.id",
  type: "body.event_type",
  eventTime: { at: "body.create_time", unit: "iso", isSigned: false },
  isIdSigned: false,
  options: { webhookId: "required", environment: "optional", certificates: "optional" },
  make(options) {
    const { environment = "live", certificates } = options;
    const webhookIds = requiredTexts(options.webhookId, "webhookId");
    assertOneOf("environment", environment, ["live", "sandbox"]);
    return {
      secrets: [],
      credential: { headers: ["PayPal-Transmission-Sig"] },
      scheme: ({ clock }) =>
        createPayPalScheme({ webhookIds, environment, clock, ...(certificates !== undefined && { certificates }) }),
    };
  },
});
