import { generateKeyPairSync, sign } from "node:crypto";
import { AlipaySdk } from "alipay-sdk";
import { alipay } from "../../src/sources/platforms/index.ts";
import type { PlatformProof } from "../platform-proof.ts";

function pair() {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const text = publicKey.export({ type: "spki", format: "der" }).toString("base64");
  return { text, privateKey };
}

const PAIRS = [pair(), pair(), pair()] as const;
const pairOf = (text: string) => PAIRS.find((one) => one.text === text) ?? PAIRS[0];

/** Here a secret is Alipay's public key. */
export const alipayProof: PlatformProof = {
  preset: "alipay",
  by: "alipay-sdk, checkNotifySignV2",
  secrets: [PAIRS[0].text, PAIRS[1].text, PAIRS[2].text],
  source: (secrets) => alipay({ publicKey: secrets }),
  callback({ secret, id }) {
    const fields: Record<string, string> = {
      notify_id: id,
      notify_type: "trade_status_sync",
      notify_time: "2026-06-15 20:00:00",
      trade_status: "TRADE_SUCCESS",
      subject: "大乐透 2.1 & 100%",
      total_amount: "2.00",
      charset: "utf-8",
      app_id: "2014072300007148",
    };
    const content = Object.keys(fields)
      .sort()
      .map((name) => `${name}=${fields[name]}`)
      .join("&");
    const signature = sign("sha256", Buffer.from(content), pairOf(secret).privateKey).toString("base64");
    const form = new URLSearchParams({ ...fields, sign: signature, sign_type: "RSA2" });
    return {
      headers: { "content-type": "application/x-www-form-urlencoded; charset=utf-8" },
      body: Buffer.from(form.toString()),
    };
  },
  accepts({ body }, { secret }) {
    const sdk = new AlipaySdk({
      appId: "2014072300007148",
      privateKey: pairOf(secret).privateKey.export({ type: "pkcs1", format: "pem" }).toString(),
      alipayPublicKey: secret,
    });
    return sdk.checkNotifySignV2(Object.fromEntries(new URLSearchParams(Buffer.from(body).toString())));
  },
  withoutSignature(request) {
    const form = new URLSearchParams(Buffer.from(request.body).toString());
    form.delete("sign");
    return { ...request, body: Buffer.from(form.toString()) };
  },
  toleranceSeconds: null,
};
