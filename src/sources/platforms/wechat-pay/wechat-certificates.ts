import { createPrivateKey, createSign, randomBytes, X509Certificate } from "node:crypto";
import { type Clock, isJsonObject, type JsonValue, ownValue, parseJson } from "../../../domain/index.ts";
import { decryptGcm, encryptedBytes } from "../../formats/decryption.ts";
import { OptionError } from "../../option-error.ts";
import { requestKeys } from "../../schemes/key-request.ts";
import { validityFault } from "../../schemes/x5c-chain.ts";

export interface WeChatMerchant {
  /** The merchant's number (`mchid`). */
  readonly id: string;
  /** The serial number of the merchant's own certificate. */
  readonly serial: string;
  /** The private key of that certificate, PEM. */
  readonly privateKey: string;
}

export interface WeChatApi {
  readonly merchant: WeChatMerchant;
  /** Of APIv3, 32 bytes each: what decrypts the certificates, and so vouches for them. */
  readonly apiKeys: readonly Uint8Array[];
  readonly clock: Clock;
  /** Protocol and host; default WeChat Pay's. */
  readonly origin?: string;
}

const ORIGIN = "https://api.mch.weixin.qq.com";
const PATH = "/v3/certificates";
const MERCHANT_TEXT = /^[A-Za-z0-9]{1,64}$/;

/** @throws TypeError for what cannot sign a request */
export function assertMerchant({ id, serial, privateKey }: WeChatMerchant): void {
  if (!MERCHANT_TEXT.test(id))
    throw new OptionError({ option: "merchant.id", expected: "a number such as 1900009191" });
  if (!MERCHANT_TEXT.test(serial))
    throw new OptionError({ option: "merchant.serial", expected: "the serial number of the merchant's certificate" });
  try {
    createPrivateKey(privateKey);
  } catch (cause) {
    const problem = "cannot be read as a private key in PEM";
    throw new OptionError({ option: "merchant.privateKey", problem }, { cause });
  }
}

/**
 * The platform certificate of a serial number, PEM. Source: wechatpay-node-v3 `getSignature` and `fetchCertificates`;
 * wechatpay-go `core/downloader`.
 * @returns undefined where WeChat Pay lists none by that number
 * @throws Error where the list cannot be had or not be decrypted
 */
export async function fetchWeChatCertificate(wanted: string, api: WeChatApi): Promise<string | undefined> {
  const headers = { accept: "application/json", "user-agent": "oncehook", authorization: authorization(api) };
  const list = parseJson((await requestKeys((api.origin ?? ORIGIN) + PATH, { headers })) ?? "");
  const items = isJsonObject(list) ? ownValue(list, "data") : undefined;
  if (!Array.isArray(items)) throw new Error("WeChat Pay's API answered with no list of certificates");
  const item = items.find((one) => ownValue(one, "serial_no") === wanted);
  if (item === undefined) return undefined;
  const pem = openCertificate(ownValue(item, "encrypt_certificate"), api.apiKeys);
  if (pem === undefined) throw new Error("no configured APIv3 key decrypts WeChat Pay's certificate");
  return validityFault(new X509Certificate(pem), api.clock.now()) === undefined ? pem : undefined;
}

function openCertificate(sealed: JsonValue | undefined, keys: readonly Uint8Array[]): string | undefined {
  const bytes = encryptedBytes(sealed, "ciphertext");
  if (bytes === undefined || !isJsonObject(sealed)) return undefined;
  const nonce = Buffer.from(String(sealed.nonce));
  const associatedData = Buffer.from(String(sealed.associated_data));
  if (nonce.length !== 12) return undefined;
  for (const key of keys) {
    const plain = decryptGcm(bytes, { key, nonce, associatedData });
    if (plain !== undefined) return plain.toString("utf8");
  }
  return undefined;
}

/** `METHOD\npath\ntimestamp\nnonce\nbody\n`, RSA-SHA256. */
function authorization({ merchant, clock }: WeChatApi): string {
  const time = Math.floor(clock.now().getTime() / 1000);
  const nonce = randomBytes(16).toString("hex");
  const signature = createSign("sha256")
    .update(`GET\n${PATH}\n${time}\n${nonce}\n\n`)
    .sign(merchant.privateKey, "base64");
  const fields = {
    mchid: merchant.id,
    nonce_str: nonce,
    signature,
    timestamp: String(time),
    serial_no: merchant.serial,
  };
  const text = Object.entries(fields).map(([name, value]) => `${name}="${value}"`);
  return `WECHATPAY2-SHA256-RSA2048 ${text.join(",")}`;
}
