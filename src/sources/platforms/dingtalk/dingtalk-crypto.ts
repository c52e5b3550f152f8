import { createHash, randomBytes } from "node:crypto";
import { decryptCbc, encryptCbc } from "../../formats/decryption.ts";
import { optionError } from "../../option-error.ts";

/** The keys of a DingTalk application, as texts and as the cipher has them. */
export interface DingTalkKeys {
  /** The current token first, then those that are being rotated out. */
  readonly tokens: readonly string[];
  readonly aesKeys: readonly Uint8Array[];
  /** CorpId, SuiteKey or AppKey: whom a message is for. */
  readonly ownerKey: string;
}

const RANDOM_BYTES = 16;
const LENGTH_BYTES = 4;
const AES_KEY = /^[A-Za-z0-9+/]{43}$/;

/** @throws TypeError for a text that is no `aes_key`, without showing it */
export function aesKeyOf(text: string): Buffer {
  if (!AES_KEY.test(text))
    throw optionError("aesKey", `${text.length} characters`, "the 43 letters and digits that DingTalk shows");
  return Buffer.from(`${text}=`, "base64");
}

/** SHA-1 over the texts, sorted, in a row; lowercase hex. */
export function signatureOf(texts: readonly string[]): string {
  return createHash("sha1").update(texts.toSorted().join(""), "utf8").digest("hex");
}

/** @returns the message, where key and owner are right */
export function openMessage(sealed: Uint8Array, key: Uint8Array, ownerKey: string): Buffer | undefined {
  const plain = decryptCbc(sealed, { key, iv: key.subarray(0, 16), padsTo: 32 });
  const start = RANDOM_BYTES + LENGTH_BYTES;
  if (plain === undefined || plain.length < start) return undefined;
  const end = start + plain.readUInt32BE(RANDOM_BYTES);
  if (end > plain.length || plain.subarray(end).toString("utf8") !== ownerKey) return undefined;
  return plain.subarray(start, end);
}

function sealMessage(message: string, key: Uint8Array, ownerKey: string): string {
  const text = Buffer.from(message, "utf8");
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(text.length);
  const plain = Buffer.concat([randomBytes(RANDOM_BYTES), length, text, Buffer.from(ownerKey, "utf8")]);
  return encryptCbc(plain, { key, iv: key.subarray(0, 16), padsTo: 32 }).toString("base64");
}

/** DingTalk's acknowledgement: `success`, encrypted and signed with the current keys. */
export function acknowledgement({ tokens, aesKeys, ownerKey }: DingTalkKeys) {
  const [token = ""] = tokens;
  const [key = Buffer.of()] = aesKeys;
  const encrypt = sealMessage("success", key, ownerKey);
  const timeStamp = String(Date.now());
  const nonce = randomBytes(8).toString("hex");
  return { msg_signature: signatureOf([token, timeStamp, nonce, encrypt]), timeStamp, nonce, encrypt };
}
