import { createCipheriv, createVerify, generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, it } from "vitest";
import { wechatPay } from "../../../src/sources/platforms/index.ts";
import { fetchWeChatCertificate } from "../../../src/sources/platforms/wechat-pay/wechat-certificates.ts";
import { createWeChatScheme } from "../../../src/sources/platforms/wechat-pay/wechat-pay-scheme.ts";
import { issueCertificate } from "../../support/certificate-chain.ts";
import { withHttpServer } from "../../support/http-server.ts";
import { NOW, opened, sent } from "../../support/preset-source.ts";

const API_KEY = "an APIv3 key has 32 characters..";
const SERIAL = "PUB_KEY_ID_0114232134912410000000000000";
const [OWN, OTHER] = [0, 1].map(() => generateKeyPairSync("rsa", { modulusLength: 2_048 }));
const pem = (pair = OWN) => String(pair?.publicKey.export({ type: "spki", format: "pem" }));
const OPTIONS = { secret: API_KEY, keys: { [SERIAL]: pem() } };

const PLAIN = { transaction_id: "1217752501201407033233368018", amount: { total: 100 } };

interface Sealing {
  readonly key?: string;
  readonly plain?: string;
  /** Fields of `resource`. */
  readonly [field: string]: string | undefined;
}

function eventOf({ key = API_KEY, plain = JSON.stringify(PLAIN), ...over }: Sealing = {}) {
  const cipher = createCipheriv("aes-256-gcm", key, "fdasflkja484").setAAD(Buffer.from("transaction"));
  const parts = [cipher.update(plain), cipher.final()];
  const resource = {
    algorithm: "AEAD_AES_256_GCM",
    ciphertext: Buffer.concat([...parts, cipher.getAuthTag()]).toString("base64"),
    associated_data: "transaction",
    nonce: "fdasflkja484",
    ...over,
  };
  return {
    id: "EV-2018022511223320873",
    create_time: "2015-05-20T13:29:35+08:00",
    event_type: "TRANSACTION.SUCCESS",
    resource,
  };
}

function callback(event: object, { pair = OWN, serial = SERIAL } = {}) {
  const body = JSON.stringify(event);
  const timestamp = String(NOW.getTime() / 1000);
  const content = Buffer.from(`${timestamp}\nn0nce\n${body}\n`);
  const headers = {
    "Wechatpay-Serial": serial,
    "Wechatpay-Timestamp": timestamp,
    "Wechatpay-Nonce": "n0nce",
    "Wechatpay-Signature": sign("sha256", content, pair?.privateKey ?? "").toString("base64"),
  };
  return sent(body, { headers });
}

describe("the preset wechat-pay", () => {
  it("a handler sees the resource decrypted, beside id and type", () => {
    const found = opened(wechatPay(OPTIONS)).contract.read(callback(eventOf()));
    if (found.kind !== "event") throw new Error(JSON.stringify(found));
    expect(found.event.json).toMatchObject({
      event_id: "EV-2018022511223320873",
      event_type: "TRANSACTION.SUCCESS",
      timestamp: Date.parse("2015-05-20T13:29:35+08:00") / 1000,
      data: { resource: PLAIN },
    });
  });

  it("a signature of another key under a known serial is refused", async () => {
    const { scheme } = opened(wechatPay(OPTIONS));
    expect(await scheme.verify(callback(eventOf(), { pair: OTHER }))).toMatchObject({
      code: "signature_mismatch",
      detail: expect.stringContaining("Wechatpay-Signature"),
    });
  });

  it("an unknown serial is refused, and the log names the header", async () => {
    const { scheme } = opened(wechatPay(OPTIONS));
    expect(await scheme.verify(callback(eventOf(), { serial: "7132D72A" }))).toMatchObject({
      code: "signature_mismatch",
      detail: "`Wechatpay-Serial`: no such key",
    });
  });

  it("a callback without a serial is refused", async () => {
    const { "wechatpay-serial": _serial, ...headers } = callback(eventOf()).headers;
    const verdict = await opened(wechatPay(OPTIONS)).scheme.verify({ ...callback(eventOf()), headers });
    expect(verdict).toMatchObject({ code: "signature_malformed" });
  });

  it("the previous APIv3 key decrypts while it is rotated", () => {
    const secret = ["another APIv3 key of 32 bytes...", API_KEY];
    expect(opened(wechatPay({ ...OPTIONS, secret })).contract.read(callback(eventOf()))).toMatchObject({
      kind: "event",
    });
  });

  it.each([
    ["another APIv3 key", { key: "another APIv3 key of 32 bytes..." }, /APIv3 key/],
    ["other associated data", { associated_data: "refund" }, /APIv3 key/],
    ["another algorithm", { algorithm: "none" }, /AEAD_AES_256_GCM/],
    ["a short nonce", { nonce: "1" }, /nonce/],
    ["no ciphertext", { ciphertext: "" }, /ciphertext/],
    ["a ciphertext that is shorter than its tag", { ciphertext: "AAAA" }, /APIv3 key/],
    ["a plain text that is no JSON", { plain: "transaction" }, /APIv3 key/],
  ])("an authentic callback with %s is refused as undecryptable", (_case, over, detail) => {
    const found = opened(wechatPay(OPTIONS)).contract.read(callback(eventOf(over)));
    expect(found).toMatchObject({ code: "body_undecryptable", detail: expect.stringMatching(detail) });
  });

  it("success is an empty 200, and what is not processed says FAIL", () => {
    const { respond } = opened(wechatPay(OPTIONS)).contract;
    expect(respond?.({ kind: "success", result: {} })).toMatchObject({ status: 200, body: "" });
    expect(respond?.({ kind: "refused", code: "rejected", message: "no" })).toMatchObject({
      status: 400,
      body: expect.stringContaining('"code":"FAIL"'),
    });
  });

  it.each([
    [{ ...OPTIONS, secret: "short" }, /`secret`: got 5 bytes, expected the 32 of an APIv3 key/],
    [{ ...OPTIONS, keys: {} }, /`keys`: got none, expected PEM texts by serial/],
    [{ ...OPTIONS, keys: { [SERIAL]: undefined } }, /`keys`: got none for "PUB_KEY_ID/],
    [{ ...OPTIONS, keys: { [SERIAL]: "-----BEGIN PUBLIC KEY-----" } }, /`keys.PUB_KEY_ID_\d+`: cannot be read/],
  ])("wrong options are refused: case %#", (options, message) => {
    expect(() => wechatPay(options)).toThrow(message);
  });
});

const CERTIFICATE_SERIAL = "5157F09EFDC096DE15EBE81A47057A7232F1B8E1";
const MERCHANT = {
  id: "1900009191",
  serial: "1DDE55AD98ED71D6EDD4A4A16996DE7B47773A8C",
  privateKey: String(OTHER?.privateKey.export({ type: "pkcs8", format: "pem" })),
};
const clock = { now: () => NOW };
const SCHEME = {
  algorithm: "rsa-sha256",
  signature: { header: "Wechatpay-Signature", encoding: "base64" },
  keyId: "Wechatpay-Serial",
  signed: "{timestamp}\n{header.Wechatpay-Nonce}\n{body}\n",
  timestamp: { header: "Wechatpay-Timestamp", unit: "seconds", toleranceSeconds: 300 },
} as const;

describe("the platform certificates of WeChat Pay", () => {
  it("the platform certificates of WeChat Pay are fetched in the merchant's name, and decrypted with the APIv3 key", async () => {
    const { pem: certificate } = await issueCertificate({ subject: "Tenpay.com" });
    const expired = await issueCertificate({ subject: "Tenpay.com", notAfter: new Date("2021-01-01") });
    const seen: string[] = [];
    const item = (serial: string, plain: string) => {
      const { ciphertext, ...rest } = eventOf({ plain }).resource;
      return { serial_no: serial, encrypt_certificate: { ...rest, ciphertext } };
    };
    await withHttpServer(
      (request, response) => {
        seen.push(`${request.method} ${request.url}`, request.headers.authorization ?? "");
        response.end(JSON.stringify({ data: [item(CERTIFICATE_SERIAL, certificate), item("0A", expired.pem)] }));
      },
      async (origin) => {
        const api = { merchant: MERCHANT, apiKeys: [Buffer.from(API_KEY)], clock, origin };
        expect(await fetchWeChatCertificate(CERTIFICATE_SERIAL, api)).toBe(certificate);
        expect(await fetchWeChatCertificate("0A", api)).toBeUndefined();
        expect(await fetchWeChatCertificate("0B", api)).toBeUndefined();
        const other = { ...api, apiKeys: [Buffer.from("another APIv3 key of 32 bytes...")] };
        await expect(fetchWeChatCertificate(CERTIFICATE_SERIAL, other)).rejects.toThrow(/APIv3 key/);
      },
    );
    const [line, authorization = ""] = seen;
    expect(line).toBe("GET /v3/certificates");
    const fields = Object.fromEntries(
      [...authorization.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
    );
    expect(fields).toMatchObject({ mchid: MERCHANT.id, serial_no: MERCHANT.serial });
    const content = `GET\n/v3/certificates\n${fields.timestamp}\n${fields.nonce_str}\n\n`;
    const verified = createVerify("sha256")
      .update(content)
      .verify(pem(OTHER), fields.signature ?? "", "base64");
    expect(verified).toBe(true);
  });

  it("platform certificates verify under an unknown serial, and are asked for once", async () => {
    const asked: string[] = [];
    const fetchCertificate = async (serial: string) => {
      asked.push(serial);
      return serial === CERTIFICATE_SERIAL ? pem() : undefined;
    };
    const scheme = createWeChatScheme(SCHEME, {
      keys: [{ id: SERIAL, key: pem(OTHER) }],
      clock,
      fetchCertificate,
    });
    const verify = (serial: string, pair = OWN) => scheme.verify(callback(eventOf(), { serial, pair }));
    for (let count = 0; count < 2; count += 1)
      expect(await verify(CERTIFICATE_SERIAL)).toMatchObject({ verified: [{ method: "public_key" }] });
    expect(await verify(CERTIFICATE_SERIAL, OTHER)).toMatchObject({ code: "signature_mismatch" });
    expect(await verify("0B0B0B0B")).toMatchObject({ code: "signature_mismatch" });
    expect(await verify(SERIAL, OTHER)).toMatchObject({ verified: [{ index: 0 }] });
    expect(await verify("PUB_KEY_ID_1")).toMatchObject({ code: "signature_mismatch" });
    expect(await verify("../token")).toMatchObject({ code: "signature_mismatch" });
    expect(asked).toEqual([CERTIFICATE_SERIAL, "0B0B0B0B"]);
  });

  it("the platform certificates of WeChat Pay that cannot be had are our failure", async () => {
    const fetchCertificate = () => Promise.reject(new Error("down"));
    const scheme = createWeChatScheme(SCHEME, { keys: [], clock, fetchCertificate });
    expect(await scheme.verify(callback(eventOf(), { serial: CERTIFICATE_SERIAL }))).toMatchObject({
      kind: "failed",
      code: "keys_unavailable",
    });
    expect(await scheme.verify(sent("{}"))).toMatchObject({ code: "signature_missing" });
  });

  it.each([
    [{ id: "1/2" }, /`merchant.id`/],
    [{ serial: "" }, /`merchant.serial`/],
    [{ privateKey: "x" }, /`merchant.privateKey`/],
  ])("wrong options are refused: %j", (over, message) => {
    expect(() => wechatPay({ secret: API_KEY, merchant: { ...MERCHANT, ...over } })).toThrow(message);
  });

  it("the merchant's key is kept from logs", () => {
    expect(wechatPay({ secret: API_KEY, merchant: MERCHANT }).secrets).toContain(MERCHANT.privateKey);
  });
});
