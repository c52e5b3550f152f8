import { createHash } from "node:crypto";
import { type JsonObject, type JsonValue, ownValue } from "../../domain/index.ts";
import type { Handshake } from "../contract/handshakes.ts";
import type { Decoded } from "../formats/body-formats.ts";
import { decryptCbc, decryptJson, encryptCbc, encryptedBytes, undecryptable } from "../formats/decryption.ts";
import { optionsPreset } from "../presets/preset.ts";
import { requiredTexts, type SecretOption } from "../presets/secrets.ts";
import { createBodyTokenScheme } from "../schemes/body-token.ts";
import { createHmacScheme } from "../schemes/hmac.ts";
import type { HmacData } from "../schemes/hmac-data.ts";
import { signHmacRequest } from "../schemes/sign-hmac.ts";
import type { SourceSettings } from "../source-definition.ts";

export interface LarkOptions extends SourceSettings {
  /** The Encrypt Key of "Events & Callbacks"; without one, Lark signs nothing. */
  readonly secret?: SecretOption;
  /** The Verification Token beside it: needed where there is no Encrypt Key, and checked in challenges where there is. */
  readonly verificationToken?: SecretOption;
}

/** The timestamp is signed as a text: its form is not documented, nor whether a retry renews it. */
const SCHEME: HmacData = {
  algorithm: "plain-sha256",
  signature: { header: "X-Lark-Signature", encoding: "hex" },
  signed: "{header.X-Lark-Request-Timestamp}{header.X-Lark-Request-Nonce}{secret}{body}",
};

/**
 * Lark and Feishu: `X-Lark-Signature`, a plain SHA-256 over timestamp, nonce, Encrypt Key and body. The body is
 * `{ encrypt }`, AES-256-CBC under the SHA-256 of the Encrypt Key, its IV before it. The `url_verification` challenge
 * is encrypted and not signed, and must be answered within a second. Without an Encrypt Key, the body's Verification
 * Token authenticates it. Source: @larksuiteoapi/node-sdk `RequestHandle`, `AESCipher`, `generateChallenge`, which
 * hashes the parsed body again. The page hashes the raw one, as is done here.
 */
export const lark = optionsPreset<LarkOptions>("lark", {
  title: "Lark / Feishu",
  docs: "https://open.feishu.cn/document/ukTMukTMukTM/uYDNxYjL2QTM24iN0EjN/event-subscription-configure-/encrypt-key-encryption-configuration-case",
  proof: "verifies",
  deadlineSeconds: 3,
  // Up to four times: after seconds, 5 minutes, 1 hour and 6 hours.
  retryHours: 8,
  signs: SCHEME,
  // Version 2 of events has a `header`, version 1 has none.
  id: ["body.header.event_id", "body.uuid"],
  type: ["body.header.event_type", "body.event.type"],
  eventTime: { at: "body.header.create_time", unit: "milliseconds" },
  handshakes: [challenge({ isSigned: false }), challenge({ isSigned: true })],
  options: { secret: "optional", verificationToken: "optional" },
  make(options) {
    const tokens =
      options.verificationToken === undefined
        ? undefined
        : requiredTexts(options.verificationToken, "verificationToken");
    if (options.secret === undefined && tokens !== undefined) {
      return {
        secrets: tokens,
        credential: { fields: ["token"] },
        scheme: () => createBodyTokenScheme({ tokens, read: tokensOf, name: "the Verification Token" }),
        contract: { handshakes: [challenge({ isSigned: true })] },
      };
    }
    const secrets = requiredTexts(options.secret);
    const keys = secrets.map((secret) => createHash("sha256").update(secret, "utf8").digest());
    const [currentKey = Buffer.of()] = keys;
    const verifyToken = tokens === undefined ? {} : { verifyToken: { at: "body.token", values: tokens } };
    const [current = ""] = secrets;
    return {
      secrets: [...secrets, ...(tokens ?? [])],
      credential: { headers: [SCHEME.signature.header].flat() },
      scheme: ({ clock }) => createHmacScheme(SCHEME, { secrets, clock }),
      contract: {
        decrypt: (body) => decrypt(body, keys),
        encrypt: (plain) => encrypt(plain, currentKey),
        handshakes: [
          challenge({ isSigned: false, without: "X-Lark-Signature", ...verifyToken }),
          challenge({ isSigned: true, ...verifyToken }),
        ],
      },
      sign: (request) => signHmacRequest(SCHEME, { ...request, secret: current }),
    };
  },
});

function challenge(over: Pick<Handshake, "isSigned" | "without" | "verifyToken">): Handshake {
  return {
    ...over,
    when: { "body.type": "url_verification" },
    reply: { kind: "json", fields: { challenge: "body.challenge" } },
  };
}

function tokensOf(body: JsonObject): (JsonValue | undefined)[] {
  const token = ownValue(ownValue(body, "header"), "token") ?? ownValue(body, "token");
  return token === undefined ? [] : [token];
}

const IV_BYTES = 16;

function decrypt(body: JsonValue, keys: readonly Uint8Array[]): Decoded {
  const encrypted = encryptedBytes(body, "encrypt");
  if (encrypted === undefined || encrypted.length < IV_BYTES)
    return undecryptable("encrypt: missing or no base64; is an Encrypt Key set on Lark's page as well?");
  const iv = encrypted.subarray(0, IV_BYTES);
  const ciphertext = encrypted.subarray(IV_BYTES);
  return decryptJson(
    keys,
    (key) => decryptCbc(ciphertext, { key, iv }),
    "encrypt: no configured Encrypt Key decrypts it",
  );
}

/** Lark's IV is random. Here it is made from the plain text, so that a sample has the same bytes each time. */
function encrypt(plain: JsonValue, key: Uint8Array): JsonObject {
  const text = Buffer.from(JSON.stringify(plain));
  const iv = createHash("sha256").update(text).digest().subarray(0, IV_BYTES);
  return { encrypt: Buffer.concat([iv, encryptCbc(text, { key, iv })]).toString("base64") };
}
