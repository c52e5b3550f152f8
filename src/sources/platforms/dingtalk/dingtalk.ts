import { timingSafeEqual } from "node:crypto";
import { isJsonObject, isRefused, type JsonValue, ownValue, type Refused } from "../../../domain/index.ts";
import type { PlatformResponse } from "../../contract/contract.ts";
import type { ContractData } from "../../contract/event-contract.ts";
import { fixedResponse } from "../../contract/responses.ts";
import type { Decoded } from "../../formats/body-formats.ts";
import { decryptJson, encryptedBytes, undecryptable } from "../../formats/decryption.ts";
import { parseForm } from "../../formats/form.ts";
import { parseObject, sha256Hex } from "../../formats/parse-body.ts";
import { wrongOption } from "../../option-error.ts";
import { optionsPreset } from "../../presets/preset.ts";
import { type FixedSecretOptions, requiredTexts, type SecretOption } from "../../presets/secrets.ts";
import type { SignedRequest } from "../../request.ts";
import { malformed, missingCredential, refuse, type Scheme } from "../../schemes/scheme.ts";
import { assertSecret } from "../../schemes/secret-keys.ts";
import { acknowledgement, aesKeyOf, type DingTalkKeys, openMessage, signatureOf } from "./dingtalk-crypto.ts";

export interface DingTalkOptions extends FixedSecretOptions {
  /** The `aes_key` beside the token (`secret`): 43 characters. Several while it is rotated. */
  readonly aesKey: SecretOption;
  /** Whom messages are for: AppKey of an application, CorpId of a company, SuiteKey of a third party. */
  readonly ownerKey: string | undefined;
}

const responding = (respond: () => PlatformResponse): Pick<ContractData, "handshakes" | "responses"> => ({
  handshakes: [{ isSigned: true, when: { "body.EventType": "check_url" }, reply: { kind: "make", make: respond } }],
  responses: { received: respond },
});

/**
 * DingTalk's HTTP push: the query has `signature` (or `msg_signature`), and the body `encrypt`, AES-256-CBC. The
 * signature is a plain SHA-1 over the sorted texts of token, timestamp, nonce and `encrypt`. The response must be
 * `success`, encrypted and signed likewise. Events have no id: the hash of the decrypted event stands for it, since
 * each delivery is encrypted afresh. A sorted list without separators lets digits move between timestamp and nonce, so
 * the timestamp proves nothing.
 * Source: open-dingtalk/DingTalk-Callback-Crypto, README.md and DingCallbackCrypto3.py, whose vector is the proof.
 */
export const dingtalk = optionsPreset<DingTalkOptions>("dingtalk", {
  title: "DingTalk",
  docs: "https://open.dingtalk.com/document/orgapp/configure-event-subcription",
  proof: "verifies",
  deadlineSeconds: 1.5,
  signs: "SHA-1 over the sorted texts of token, timestamp, nonce and the encrypted body",
  id: ({ body }) => sha256Hex(Buffer.from(JSON.stringify(body))),
  isIdSigned: true,
  type: "body.EventType",
  ...responding(() => fixedResponse({})),
  options: { secret: "required", aesKey: "required", ownerKey: "required" },
  make(options) {
    const tokens = requiredTexts(options.secret);
    const aesTexts = requiredTexts(options.aesKey, "aesKey");
    const { ownerKey } = options;
    if (typeof ownerKey !== "string" || ownerKey === "")
      throw wrongOption("ownerKey", undefined, "the AppKey, CorpId or SuiteKey");
    const keys: DingTalkKeys = { tokens, aesKeys: aesTexts.map(aesKeyOf), ownerKey };
    return {
      secrets: [...tokens, ...aesTexts],
      credential: { fields: ["signature", "msg_signature"] },
      scheme: () => createScheme(tokens),
      contract: {
        decrypt: (body) => decrypt(body, keys),
        ...responding(() => fixedResponse({ body: acknowledgement(keys) })),
      },
    };
  },
});

function decrypt(body: JsonValue, { aesKeys, ownerKey }: DingTalkKeys): Decoded {
  const sealed = encryptedBytes(body, "encrypt");
  if (sealed === undefined) return undecryptable("encrypt: missing, or no base64");
  const open = (key: Uint8Array) => openMessage(sealed, key, ownerKey);
  const plain = decryptJson(aesKeys, open, "encrypt: another aesKey, or a message for another ownerKey");
  if (isRefused(plain) || isJsonObject(plain.value)) return plain;
  return undecryptable("encrypt: the plain text is no JSON object");
}

const MAX_TEXT_LENGTH = 256;
const SIGNATURE = /^[0-9a-f]{40}$/;

function createScheme(tokens: readonly string[]): Scheme {
  const usableTokens = tokens.map((token) => assertSecret(token));
  return {
    challenge: 'Signature realm="callbacks", algorithm="plain-sha1", in="query"',
    verify(request) {
      const claims = readClaims(request);
      if ("kind" in claims) return claims;
      const { signature, signed } = claims;
      const matches = usableTokens.map((token) =>
        timingSafeEqual(Buffer.from(signatureOf([token, ...signed])), signature),
      );
      const index = matches.indexOf(true);
      if (index !== -1) return { verified: [{ method: "hmac", index }] };
      return refuse("signature_mismatch", "signature: made with another token, or of another body");
    },
  };
}

interface Claims {
  readonly signature: Buffer;
  /** Timestamp, nonce, and the encrypted event. */
  readonly signed: readonly string[];
}

function readClaims({ target, body }: SignedRequest): Claims | Refused {
  const query = parseForm(Buffer.from(target.split("?")[1] ?? "", "latin1"));
  if (isRefused(query)) return malformed("the query is no form");
  const read = (...names: string[]) => names.map((name) => ownValue(query.value, name)).find(Boolean);
  const signature = read("msg_signature", "signature");
  if (signature === undefined) return missingCredential("signature_missing", "signature: missing from the query");
  if (typeof signature !== "string" || !SIGNATURE.test(signature))
    return malformed("signature: expected 40 lowercase hexadecimal digits, once");
  const texts = [read("timestamp", "timeStamp"), read("nonce")];
  const isSent = texts.every((text) => typeof text === "string" && text.length <= MAX_TEXT_LENGTH);
  if (!isSent) return malformed("timestamp, nonce: expected each once in the query");
  const parsed = parseObject(body);
  const encrypt = isRefused(parsed) ? undefined : ownValue(parsed.object, "encrypt");
  if (typeof encrypt !== "string") return malformed("encrypt: missing from the body");
  return { signature: Buffer.from(signature), signed: [...(texts as string[]), encrypt] };
}
