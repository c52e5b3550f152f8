import { createCipheriv, createDecipheriv } from "node:crypto";
import { isJsonObject, isRefused, type JsonValue, ownValue, type Refused, refused } from "../../domain/index.ts";
import type { Decoded } from "./body-formats.ts";
import { decodeExactly } from "./encoding.ts";
import { MAX_NESTING, parseJsonBody } from "./parse-body.ts";

/** An AES block. */
const BLOCK_BYTES = 16;
const GCM_TAG_BYTES = 16;
/** The decrypted part stands in an object of the body, and that one in the envelope. */
const MAX_PLAIN_NESTING = MAX_NESTING - 3;

/** AES-256-CBC (NIST SP 800-38A). Its padding authenticates nothing: decrypt only what is verified. */
export interface CbcCipher {
  /** 32 bytes. */
  readonly key: Uint8Array;
  /** 16 bytes. */
  readonly iv: Uint8Array;
  /** PKCS #7 pads to a multiple of this many bytes. Default 16; DingTalk has 32. */
  readonly padsTo?: 16 | 32;
}

/** @returns undefined where length or padding is not what the cipher makes */
export function decryptCbc(ciphertext: Uint8Array, { key, iv, padsTo = 16 }: CbcCipher): Buffer | undefined {
  if (ciphertext.length === 0 || ciphertext.length % BLOCK_BYTES !== 0) return undefined;
  const decipher = createDecipheriv("aes-256-cbc", key, iv).setAutoPadding(false);
  const padded = Buffer.concat([decipher.update(ciphertext), decipher.final()]);
  const count = padded.at(-1) ?? 0;
  const isPadding = count > 0 && count <= Math.min(padsTo, padded.length);
  if (!isPadding || padded.subarray(-count).some((byte) => byte !== count)) return undefined;
  return padded.subarray(0, -count);
}

export function encryptCbc(plain: Uint8Array, { key, iv, padsTo = 16 }: CbcCipher): Buffer {
  const count = padsTo - (plain.length % padsTo);
  const cipher = createCipheriv("aes-256-cbc", key, iv).setAutoPadding(false);
  return Buffer.concat([cipher.update(plain), cipher.update(Buffer.alloc(count, count)), cipher.final()]);
}

/**
 * AES-256-GCM (NIST SP 800-38D), with the tag after the ciphertext (RFC 5116 §5.1). The key has 32 bytes, the nonce 12.
 * @returns undefined where the tag is not of this key, nonce and data
 */
export function decryptGcm(
  sealed: Uint8Array,
  { key, nonce, associatedData }: Readonly<Record<"key" | "nonce" | "associatedData", Uint8Array>>,
): Buffer | undefined {
  const end = sealed.length - GCM_TAG_BYTES;
  if (end < 0) return undefined;
  const options = { authTagLength: GCM_TAG_BYTES };
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, options)
    .setAAD(associatedData)
    .setAuthTag(sealed.subarray(end));
  const plain = decipher.update(sealed.subarray(0, end));
  try {
    return Buffer.concat([plain, decipher.final()]);
  } catch {
    return undefined;
  }
}

/** The bytes of a base64 text at a property of the body; undefined for anything else. */
export function encryptedBytes(body: JsonValue | undefined, property: string): Buffer | undefined {
  const text = isJsonObject(body) ? ownValue(body, property) : undefined;
  return typeof text === "string" ? decodeExactly(text, "base64") : undefined;
}

/** The JSON of the first key that gives some. @param detail for the log, where none does */
export function decryptJson<Key>(
  keys: readonly Key[],
  decrypt: (key: Key) => Uint8Array | undefined,
  detail: string,
): Decoded {
  for (const key of keys) {
    const plain = decrypt(key);
    if (plain === undefined) continue;
    const parsed = parseJsonBody(plain, { keepsDigits: true, maxNesting: MAX_PLAIN_NESTING });
    if (!isRefused(parsed)) return parsed;
    const isOtherKey = parsed.code === "body_not_json" || parsed.code === "body_not_utf8";
    if (!isOtherKey) return parsed;
  }
  return undecryptable(detail);
}

/** @param detail what was found and expected, in the platform's words */
export function undecryptable(detail: string): Refused {
  return refused("body_undecryptable", { detail });
}
