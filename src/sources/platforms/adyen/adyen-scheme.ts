import { createHmac, timingSafeEqual } from "node:crypto";
import { isJsonObject, isRefused, type JsonObject, type JsonValue, type Refused } from "../../../domain/index.ts";
import { decodeExactly } from "../../formats/encoding.ts";
import { parseJsonBody } from "../../formats/parse-body.ts";
import { createDigester } from "../../schemes/keyed-digest.ts";
import { type Credential, malformed, refuse, type Scheme } from "../../schemes/scheme.ts";
import { keysOf } from "../../schemes/secret-keys.ts";

/** Adyen sends one item; its API allows several. */
const MAX_ITEMS = 1_000;
const DIGEST_BYTES = 32;
const WHERE = "additionalData.hmacSignature";

/** Its `pspReference` is a file's name, such as `report_2022-11-01T00:00:00.csv` (adyen-ruby-api-library, issue 108). */
export const REPORT = "REPORT_AVAILABLE";

/**
 * Adyen's standard webhooks: HMAC-SHA256 in base64 inside each item, over eight of its fields with colons between them.
 * Source: adyen-node-api-library `src/utils/hmacValidator.ts`; docs.adyen.com, "Verify HMAC signatures". Every item must
 * verify. All other fields are unsigned. The body is parsed before it is verified, bounded as any.
 *
 * One signature fits one reading of its fields. A colon inside a field is not escaped, so that only one field may hold
 * some: `merchantReference`, or for a report `pspReference`. Texts must be texts. The amount must be an integer that a
 * JavaScript number holds exactly, as the contract reads numbers.
 * @param secrets HMAC keys in hex, the current one first @throws TypeError for a key that is no hex
 */
export function createAdyenItemsScheme(secrets: readonly string[]): Scheme {
  const digesters = keysOf(secrets, "hex").map((key) => createDigester("sha256", key));
  return {
    challenge: 'Signature realm="callbacks", algorithm="hmac-sha256", in="body"',
    verify({ body }) {
      const items = readItems(body);
      if (isRefused(items)) return items;
      const indexes = new Set<number>();
      for (const { content, signature } of items) {
        const matches = digesters.map((digest) => timingSafeEqual(digest(content), signature));
        const index = matches.indexOf(true);
        if (index === -1)
          return refuse("signature_mismatch", `\`${WHERE}\`: made with another key, or over other fields`);
        indexes.add(index);
      }
      // The signature is over rounded numbers. Only what is authentic is worth the work of looking at their digits.
      const exact = readItems(body, true);
      if (isRefused(exact)) return exact;
      return { verified: [...indexes].map((index): Credential => ({ method: "hmac", index })) };
    },
  };
}

/** The body with each item's signature. @throws TypeError for an item that Adyen could not have signed */
export function signAdyenItems(body: JsonObject, secret: string): JsonObject {
  const { notificationItems } = body;
  if (!Array.isArray(notificationItems)) return body;
  const [key = Buffer.of()] = keysOf([secret], "hex");
  const signed = notificationItems.map((element) => {
    const item = isJsonObject(element) ? element.NotificationRequestItem : undefined;
    if (!isJsonObject(element) || !isJsonObject(item)) return element;
    const { amount, additionalData } = item;
    const content = signedContent(item, isJsonObject(amount) ? amount : {});
    if (isRefused(content)) throw new TypeError(content.detail);
    const hmacSignature = createHmac("sha256", key).update(content).digest("base64");
    const more = isJsonObject(additionalData) ? additionalData : {};
    const NotificationRequestItem = { ...item, additionalData: { ...more, hmacSignature } };
    return { ...element, NotificationRequestItem };
  });
  return { ...body, notificationItems: signed };
}

interface SignedItem {
  readonly content: Buffer;
  readonly signature: Buffer;
}

function readItems(body: Uint8Array, keepsDigits = false): SignedItem[] | Refused {
  if (body.length === 0) return refuse("signature_missing", "the body is empty");
  const parsed = parseJsonBody(body, { keepsDigits });
  if (isRefused(parsed)) return malformed(`the body: ${parsed.code}`);
  const items = isJsonObject(parsed.value) ? parsed.value.notificationItems : undefined;
  if (!Array.isArray(items) || items.length === 0) return refuse("signature_missing", "`notificationItems`: missing");
  if (items.length > MAX_ITEMS) return malformed(`\`notificationItems\`: more than ${MAX_ITEMS}`);
  const read: SignedItem[] = [];
  for (const element of items) {
    const item = readItem(isJsonObject(element) ? element.NotificationRequestItem : undefined);
    if (isRefused(item)) return item;
    read.push(item);
  }
  return read;
}

function readItem(item: JsonValue | undefined): SignedItem | Refused {
  if (!isJsonObject(item)) return malformed("`NotificationRequestItem`: expected an object");
  const { additionalData, amount } = item;
  const claimed = isJsonObject(additionalData) ? additionalData.hmacSignature : undefined;
  if (typeof claimed !== "string" || claimed === "") return refuse("signature_missing", `\`${WHERE}\`: missing`);
  const signature = decodeExactly(claimed, "base64");
  if (signature?.length !== DIGEST_BYTES) return malformed(`\`${WHERE}\`: expected a SHA-256 in base64`);
  const content = signedContent(item, isJsonObject(amount) ? amount : {});
  return isRefused(content) ? content : { content, signature };
}

function signedContent(item: JsonObject, amount: JsonObject): Buffer | Refused {
  const { pspReference, originalReference, merchantAccountCode, merchantReference, eventCode, success } = item;
  const mayHoldColons = eventCode === REPORT ? "pspReference" : "merchantReference";
  const texts = { pspReference, originalReference, merchantAccountCode, merchantReference };
  const after = { currency: amount.currency, eventCode, success };
  for (const [name, value] of Object.entries({ ...texts, ...after })) {
    if (!isSignedText(value)) return malformed(`\`${name}\`: expected a text`);
    if (name !== mayHoldColons && value?.includes(":"))
      return malformed(`\`${name}\`: holds a colon, which the signed text does not escape`);
  }
  if (pspReference === undefined || pspReference === null || pspReference === "")
    return malformed("`pspReference`: missing");
  const { value } = amount;
  if (value !== undefined && value !== null && !Number.isSafeInteger(value))
    return malformed("`amount.value`: expected an integer");
  return Buffer.from([...Object.values(texts), value, ...Object.values(after)].join(":"));
}

/** One that is not there is signed as an empty text. Lone surrogates would all become U+FFFD among the signed bytes. */
function isSignedText(value: JsonValue | undefined): value is string | null | undefined {
  return value === undefined || value === null || (typeof value === "string" && value.isWellFormed());
}
