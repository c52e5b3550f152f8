import { isJsonObject, type JsonValue } from "../../../domain/index.ts";
import type { Handshake } from "../../contract/handshakes.ts";
import { sha256Hex } from "../../formats/parse-body.ts";
import { OptionError } from "../../option-error.ts";
import { optionsPreset } from "../../presets/preset.ts";
import { refuseFunction } from "../../presets/secrets.ts";
import type { SourceSettings } from "../../source-definition.ts";
import { answerBraintreeChallenge, type BraintreeKeys, createBraintreeScheme } from "./braintree-scheme.ts";

export type { BraintreeKeys } from "./braintree-scheme.ts";

export interface BraintreeOptions extends SourceSettings {
  /** The API keys of the control panel; several while they are rotated, the current ones first. */
  readonly keys: BraintreeKeys | readonly BraintreeKeys[];
}

const challenge = (current: BraintreeKeys): Handshake => ({
  isSigned: false,
  method: "GET",
  when: { "query.bt_challenge": true },
  body: "none",
  reply: { kind: "text", at: (from) => answerBraintreeChallenge(current, from.query("bt_challenge")) },
});

/**
 * Braintree: handlers get the XML as the text `data.value`; the type is its `kind`. There is no id: the SHA-256 of the
 * XML, which has its time, is one. A GET with `bt_challenge` is answered with a proof of the keys. Source:
 * braintree_node `lib/braintree/webhook_notification_gateway.js`;
 * https://developer.paypal.com/braintree/docs/guides/webhooks/parse.
 */
export const braintree = optionsPreset<BraintreeOptions>("braintree", {
  docs: "https://developer.paypal.com/braintree/docs/guides/webhooks/parse",
  proof: "signs",
  deadlineSeconds: 30,
  retryHours: 24,
  signs: "HMAC-SHA1 over the payload, in the body",
  body: "form",
  decode: [{ at: "body.bt_payload", as: "base64-text" }],
  id: ({ body }) => sha256Hex(xmlOf(body)),
  isIdSigned: true,
  type: ({ body }) => kindOf(xmlOf(body)),
  data: "body.bt_payload",
  handshakes: [challenge({ publicKey: "", privateKey: "" })],
  options: { keys: "required" },
  make(options) {
    const keys = keysOf(options.keys);
    const [current] = keys as [BraintreeKeys];
    return {
      secrets: keys.map(({ privateKey }) => privateKey),
      credential: { fields: ["bt_signature"] },
      scheme: () => createBraintreeScheme(keys),
      contract: { handshakes: [challenge(current)] },
    };
  },
});

function keysOf(given: BraintreeOptions["keys"] | undefined): BraintreeKeys[] {
  refuseFunction(given, "keys");
  const keys = [given].flat().filter((key) => key !== undefined);
  const isWrong = keys.some((key) => typeof key?.publicKey !== "string" || typeof key.privateKey !== "string");
  if (keys.length === 0 || isWrong) {
    throw new OptionError({ option: "keys", expected: "{ publicKey, privateKey }; are their variables set?" });
  }
  return keys;
}

function xmlOf(body: JsonValue | undefined): string {
  const xml = isJsonObject(body) ? body.bt_payload : undefined;
  return typeof xml === "string" ? xml : "";
}

/** The notification's own `kind`; what stands in its subject is of the merchant's customers. */
function kindOf(xml: string): string | undefined {
  const start = xml.indexOf("<subject");
  const end = xml.lastIndexOf("</subject>");
  const outside = start === -1 ? xml : xml.slice(0, start) + (end > start ? xml.slice(end) : "");
  const from = outside.indexOf("<kind>");
  const to = outside.indexOf("</kind>", from);
  return from === -1 || to === -1 ? undefined : outside.slice(from + "<kind>".length, to);
}
