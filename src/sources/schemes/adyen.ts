import { timingSafeEqual } from "node:crypto";
import { isJsonObject, isRefused, type JsonValue, type Refused } from "../../domain/index.ts";
import { parseObject } from "../contract/parse-body.ts";
import { decodeExactly } from "./encoding.ts";
import { refusalsOf } from "./hmac-refusal.ts";
import { createDigester } from "./keyed-digest.ts";
import type { Credential, Scheme } from "./scheme.ts";
import { keysOf } from "./secret-keys.ts";

export interface AdyenItemsOptions {
  /** HMAC keys in hex, the current one first. */
  readonly secrets: readonly string[];
}

/** Adyen sends one item; its API allows several. */
const MAX_ITEMS = 1_000;
const DIGEST_BYTES = 32;
const WHERE = "additionalData.hmacSignature";

const refuse = refusalsOf({});

/**
 * Adyen's standard webhooks: HMAC-SHA256 in base64 inside each item, over eight of its fields with colons between them.
 * Source: adyen-node-api-library `src/utils/hmacValidator.ts`; docs.adyen.com, "Verify HMAC signatures". Every item must
 * verify. All other fields are unsigned, and a colon inside a field is not escaped. The body is parsed before it is
 * verified, bounded as any.
 * @throws TypeError for a key that is no hex
 */
export function createAdyenItemsScheme({ secrets }: AdyenItemsOptions): Scheme {
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
      return { verified: [...indexes].map((index): Credential => ({ method: "hmac", index })) };
    },
  };
}

interface SignedItem {
  readonly content: Buffer;
  readonly signature: Buffer;
}

function readItems(body: Uint8Array): SignedItem[] | Refused {
  if (body.length === 0) return refuse("signature_missing", "the body is empty");
  const parsed = parseObject(body);
  if (isRefused(parsed)) return refuse("signature_malformed", `the body: ${parsed.code}`);
  const items = parsed.object.notificationItems;
  if (!Array.isArray(items) || items.length === 0)
    return refuse("signature_missing", "`notificationItems`: missing");
  if (items.length > MAX_ITEMS)
    return refuse("signature_malformed", `\`notificationItems\`: more than ${MAX_ITEMS}`);
  const read: SignedItem[] = [];
  for (const element of items) {
    const item = readItem(isJsonObject(element) ? element.NotificationRequestItem : undefined);
    if (isRefused(item)) return item;
    read.push(item);
  }
  return read;
}

function readItem(item: JsonValue | undefined): SignedItem | Refused {
  if (!isJsonObject(item))
    return refuse("signature_malformed", "`NotificationRequestItem`: expected an object");
  const { additionalData, amount } = item;
  const claimed = isJsonObject(additionalData) ? additionalData.hmacSignature : undefined;
  if (typeof claimed !== "string" || claimed === "")
    return refuse("signature_missing", `\`${WHERE}\`: missing`);
  const signature = decodeExactly(claimed, "base64");
  if (signature?.length !== DIGEST_BYTES)
    return refuse("signature_malformed", `\`${WHERE}\`: expected a SHA-256 in base64`);
  const { value, currency } = isJsonObject(amount) ? amount : {};
  const { pspReference, originalReference, merchantAccountCode, merchantReference, eventCode, success } =
    item;
  const fields = [pspReference, originalReference, merchantAccountCode, merchantReference];
  const texts = [...fields, value, currency, eventCode, success].map(textOf);
  if (texts.includes(undefined)) return refuse("signature_malformed", "a signed field is no text");
  return { content: Buffer.from(texts.join(":")), signature };
}

/** A field that is not there is signed as an empty text. */
function textOf(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null) return "";
  // Lone surrogates would all become U+FFFD among the signed bytes.
  if (typeof value === "string") return value.isWellFormed() ? value : undefined;
  return typeof value === "object" ? undefined : String(value);
}
