import { isJsonObject, isRefused, type JsonObject, type JsonValue, ownValue } from "../../../domain/index.ts";
import type { Decoded } from "../../formats/body-formats.ts";
import { decryptGcm, decryptJson, encryptedBytes, undecryptable } from "../../formats/decryption.ts";
import { optionError, wrongOption } from "../../option-error.ts";
import { optionsPreset } from "../../presets/preset.ts";
import { type FixedSecretOptions, requiredTexts } from "../../presets/secrets.ts";
import type { IdentifiedKey, PublicKeyData } from "../../schemes/public-key.ts";
import { assertSecret } from "../../schemes/secret-keys.ts";
import { assertMerchant, fetchWeChatCertificate, type WeChatMerchant } from "./wechat-certificates.ts";
import { createWeChatScheme } from "./wechat-pay-scheme.ts";

export type { WeChatMerchant } from "./wechat-certificates.ts";

export interface WeChatPayOptions extends FixedSecretOptions {
  /**
   * The verification keys, in PEM, by the serial that `Wechatpay-Serial` names. A public key has `PUB_KEY_ID_…`, and a
   * platform certificate its serial number. All of them verify; the current one first. May be left out with `merchant`.
   */
  readonly keys?: Readonly<Record<string, string | undefined>>;
  /** Merchants with platform certificates: those that `keys` lacks are fetched from WeChat Pay in this merchant's name. */
  readonly merchant?: WeChatMerchant;
}

/** wechatpay-go refuses what is more than five minutes off in either direction, so a retry must have a new time. */
const SCHEME: PublicKeyData = {
  algorithm: "rsa-sha256",
  signature: { header: "Wechatpay-Signature", encoding: "base64" },
  keyId: "Wechatpay-Serial",
  signed: "{timestamp}\n{header.Wechatpay-Nonce}\n{body}\n",
  timestamp: { header: "Wechatpay-Timestamp", unit: "seconds", toleranceSeconds: 300 },
};

const FAILURE = { body: { code: "FAIL", message: "not processed" } };

/**
 * WeChat Pay, API v3: the key is the one that `Wechatpay-Serial` names. `resource` is AES-256-GCM under the APIv3 key
 * (`secret`); handlers see it decrypted, in its place. The response's status counts, and not its body. Source:
 * wechatpay-apiv3/wechatpay-go `core/auth/validators` and `core/notify`; wechatpay-node-v3 `verifySign` and
 * `decipher_gcm`, which leaves the tag unchecked;
 * https://pay.weixin.qq.com/docs/partner/apis/partner-h5-payment/payment-notice.html.
 */
export const wechatPay = optionsPreset<WeChatPayOptions>("wechat-pay", {
  title: "WeChat Pay",
  docs: "https://pay.weixin.qq.com/docs/partner/apis/partner-h5-payment/payment-notice.html",
  proof: "community",
  deadlineSeconds: 5,
  retryHours: 25,
  renewsTimestamp: true,
  signs: SCHEME,
  id: "body.id",
  type: "body.event_type",
  eventTime: { at: "body.create_time", unit: "iso" },
  hasSignedTime: true,
  responses: { received: { status: 200 }, refused: FAILURE, failed: FAILURE },
  options: { secret: "required", keys: "either", merchant: "either" },
  make(options) {
    const secrets = requiredTexts(options.secret);
    const apiKeys = secrets.map(apiKeyOf);
    const { merchant } = options;
    const keys = keysOf(options.keys, merchant !== undefined);
    if (merchant !== undefined) assertMerchant(merchant);
    return {
      secrets: merchant === undefined ? secrets : [...secrets, merchant.privateKey],
      credential: { headers: [SCHEME.signature.header] },
      scheme: ({ clock }) =>
        createWeChatScheme(SCHEME, {
          ...{ keys, clock },
          ...(merchant !== undefined && {
            fetchCertificate: (serial) => fetchWeChatCertificate(serial, { merchant, apiKeys, clock }),
          }),
        }),
      contract: { decrypt: (body) => decrypt(body, apiKeys) },
    };
  },
});

const API_KEY_BYTES = 32;

function apiKeyOf(secret: string): Buffer {
  const key = Buffer.from(assertSecret(secret), "utf8");
  if (key.length === API_KEY_BYTES) return key;
  throw optionError("secret", `${key.length} bytes`, `the ${API_KEY_BYTES} of an APIv3 key`);
}

function keysOf(keys: WeChatPayOptions["keys"], mayBeEmpty: boolean): IdentifiedKey[] {
  const all = Object.entries(keys ?? {}).map(([id, key]) => {
    if (typeof key === "string") return { id, key };
    throw optionError("keys", `none for ${JSON.stringify(id)}`, "PEM");
  });
  if (all.length > 0 || mayBeEmpty) return all;
  throw wrongOption("keys", undefined, "PEM texts by serial, such as { PUB_KEY_ID_01…: pem }");
}

const ALGORITHM = "AEAD_AES_256_GCM";
const NONCE_BYTES = 12;

function decrypt(body: JsonValue, keys: readonly Uint8Array[]): Decoded {
  const resource = ownValue(body, "resource");
  if (!isJsonObject(body) || !isJsonObject(resource)) return undecryptable("resource: missing; expected an object");
  const sealed = encryptedBytes(resource, "ciphertext");
  if (sealed === undefined || stringField(resource, "algorithm") !== ALGORITHM)
    return undecryptable(`resource: expected ${ALGORITHM} and a ciphertext in base64`);
  const nonce = Buffer.from(stringField(resource, "nonce"));
  if (nonce.length !== NONCE_BYTES) return undecryptable(`resource.nonce: expected ${NONCE_BYTES} bytes`);
  const associatedData = Buffer.from(stringField(resource, "associated_data"));
  const open = (key: Uint8Array) => decryptGcm(sealed, { key, nonce, associatedData });
  const plain = decryptJson(keys, open, "resource: no configured APIv3 key decrypts it");
  return isRefused(plain) ? plain : { value: { ...body, resource: plain.value } };
}

function stringField(object: JsonObject, name: string): string {
  const value = ownValue(object, name);
  return typeof value === "string" ? value : "";
}
