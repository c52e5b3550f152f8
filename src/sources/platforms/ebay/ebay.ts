import type { Handshake } from "../../contract/handshakes.ts";
import { optionError } from "../../option-error.ts";
import { assertOneOf } from "../../presets/options.ts";
import { optionsPreset } from "../../presets/preset.ts";
import { requiredTexts } from "../../presets/secrets.ts";
import type { SourceSettings } from "../../source-definition.ts";
import { createEbayScheme, type EbayCredentials, fetchEbayKey } from "./ebay-scheme.ts";

export interface EbayOptions extends SourceSettings {
  /** The application's Client ID (App ID), with which eBay's keys are asked for. Not needed with `publicKeys`. */
  readonly clientId?: string | undefined;
  /** Its Client Secret (Cert ID). */
  readonly clientSecret?: string | undefined;
  /** The verification token that was entered beside the endpoint: 32 to 80 letters, digits, `_` and `-`. */
  readonly verificationToken: string | undefined;
  /** Default `production`. */
  readonly environment?: "production" | "sandbox";
  /** Keys by their ids, as eBay's `getPublicKey` shows them. Without a `clientId`, no other key is accepted. */
  readonly publicKeys?: Readonly<Record<string, string>>;
}

const APIS = { production: "https://api.ebay.com", sandbox: "https://api.sandbox.ebay.com" };
const VERIFICATION_TOKEN = /^[A-Za-z0-9_-]{32,80}$/;

const challenge = (token: string): Handshake => ({
  isSigned: false,
  method: "GET",
  when: { "query.challenge_code": true },
  reply: { kind: "json", fields: { challengeResponse: { sha256: ["query.challenge_code", `=${token}`, "url"] } } },
});

/**
 * eBay's notifications, marketplace account deletion among them. A GET with `challenge_code` checks the address; its
 * response is a SHA-256 over code, verification token and address. So `CALLBACK_BASE_URL` must be the one that is
 * registered. Source: event-notification-nodejs-sdk `lib/validator.js`, which hashes the parsed body again,
 * `lib/client.js` and `test/test.json`, whose vector is the proof.
 */
export const ebay = optionsPreset<EbayOptions>("ebay", {
  title: "eBay",
  docs: "https://developer.ebay.com/marketplace-account-deletion",
  proof: "verifies",
  disables: "account deletions that stay unacknowledged disable the application's keys",
  signs: "ECDSA over `{body}`, keys of eBay's API",
  open: "a notification names none, so act only on users and orders that you know",
  id: "body.notification.notificationId",
  type: "body.metadata.topic",
  eventTime: { at: "body.notification.eventDate", unit: "iso" },
  handshakes: [challenge("of no address")],
  options: {
    verificationToken: "required",
    clientId: "optional",
    clientSecret: "optional",
    environment: "optional",
    publicKeys: "optional",
  },
  make(options) {
    const { environment = "production", publicKeys } = options;
    const [token = ""] = requiredTexts(options.verificationToken, "verificationToken");
    if (!VERIFICATION_TOKEN.test(token))
      throw optionError("verificationToken", `${token.length} characters`, "32 to 80 letters, digits, _ and -");
    assertOneOf("environment", environment, Object.keys(APIS));
    const credentials = credentialsOf(options, APIS[environment]);
    return {
      secrets: [token, ...(credentials === undefined ? [] : [credentials.clientSecret])],
      credential: { headers: ["X-EBAY-SIGNATURE"] },
      scheme: () =>
        createEbayScheme({
          fetchKey: async (id) => credentials && fetchEbayKey(id, credentials),
          ...(publicKeys !== undefined && { publicKeys }),
        }),
      contract: { handshakes: [challenge(token)] },
    };
  },
});

function credentialsOf({ clientId, clientSecret, publicKeys }: EbayOptions, api: string): EbayCredentials | undefined {
  if (publicKeys !== undefined && clientId === undefined) return undefined;
  const [id = ""] = requiredTexts(clientId, "clientId");
  const [secret = ""] = requiredTexts(clientSecret, "clientSecret");
  return { clientId: id, clientSecret: secret, api };
}
