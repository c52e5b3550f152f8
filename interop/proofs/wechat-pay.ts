import { createCipheriv, generateKeyPairSync, sign } from "node:crypto";
import Pay from "wechatpay-node-v3";
import { wechatPay } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";

const API_KEY = "an APIv3 key has 32 characters..";
const NONCE = "fdasflkja484";
const AAD = "transaction";

function pair(id: string) {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  return { id, privateKey, pem: publicKey.export({ type: "spki", format: "pem" }).toString() };
}

const PAIRS = [
  pair("PUB_KEY_ID_0114232134912410000000000000"),
  pair("5157F09EFDC096DE15EBE81A47057A7232F1B8E1"),
  pair("7132D72A03E93CDDF8C03BBD1F37EEDF9D1BB2C1"),
] as const;
const pairOf = (id: string) => PAIRS.find((one) => one.id === id) ?? PAIRS[0];
const pemOf = (id: string) => PAIRS.find((one) => one.id === id)?.pem ?? "";

function sealed(plain: object): string {
  const cipher = createCipheriv("aes-256-gcm", API_KEY, NONCE).setAAD(Buffer.from(AAD));
  const bytes = [cipher.update(JSON.stringify(plain)), cipher.final()];
  return Buffer.concat([...bytes, cipher.getAuthTag()]).toString("base64");
}

/** Here a secret is the serial of the key pair that signs. */
export const wechatPayProof: PlatformProof = {
  preset: "wechat-pay",
  by: "wechatpay-node-v3, verifySign and decipher_gcm, a community library: WeChat Pay has no SDK for Node",
  secrets: [PAIRS[0].id, PAIRS[1].id, PAIRS[2].id],
  source: (secrets) => wechatPay({ secret: API_KEY, keys: Object.fromEntries(secrets.map((id) => [id, pemOf(id)])) }),
  callback({ secret, id, now }) {
    const event = {
      id,
      create_time: "2026-06-15T20:00:00+08:00",
      resource_type: "encrypt-resource",
      event_type: "TRANSACTION.SUCCESS",
      resource: {
        original_type: "transaction",
        algorithm: "AEAD_AES_256_GCM",
        ciphertext: sealed({ transaction_id: "1217752501201407033233368018" }),
        associated_data: AAD,
        nonce: NONCE,
      },
      summary: "支付成功",
    };
    const body = Buffer.from(JSON.stringify(event));
    const timestamp = String(Math.floor(now.getTime() / 1000));
    const content = Buffer.concat([Buffer.from(`${timestamp}\nnonce-1\n`), body, Buffer.from("\n")]);
    return {
      headers: {
        "wechatpay-serial": secret,
        "wechatpay-timestamp": timestamp,
        "wechatpay-nonce": "nonce-1",
        "wechatpay-signature": sign("sha256", content, pairOf(secret).privateKey).toString("base64"),
        "wechatpay-signature-type": "WECHATPAY2-SHA256-RSA2048",
        "content-type": "application/json",
      },
      body,
    };
  },
  async accepts({ headers, body }) {
    const { pem } = PAIRS[0];
    const pay = new Pay({
      appid: "wx0",
      mchid: "1",
      serial_no: "1",
      publicKey: Buffer.from(pem),
      privateKey: Buffer.from(pem),
      key: API_KEY,
    });
    Object.assign(Pay as unknown as object, {
      certificates: Object.fromEntries(PAIRS.map((one) => [one.id, one.pem])),
    });
    const text = Buffer.from(body).toString();
    const isSigned = await pay.verifySign({
      timestamp: headers["wechatpay-timestamp"] ?? "",
      nonce: headers["wechatpay-nonce"] ?? "",
      serial: headers["wechatpay-serial"] ?? "",
      signature: headers["wechatpay-signature"] ?? "",
      body: text,
    });
    if (!isSigned) return false;
    const { ciphertext, associated_data, nonce } = JSON.parse(text).resource;
    const resource = pay.decipher_gcm<{ transaction_id?: string }>(ciphertext, associated_data, nonce);
    return resource.transaction_id === "1217752501201407033233368018";
  },
  toleranceSeconds: 300,
};
