import { createCipheriv, generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, it } from "vitest";
import { wechatPay } from "../../../src/sources/presets/index.ts";
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
      detail: "Wechatpay-Serial: no such key",
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
    [
      { ...OPTIONS, keys: { [SERIAL]: "-----BEGIN PUBLIC KEY-----" } },
      /public key PUB_KEY_ID_\d+: cannot be read/,
    ],
  ])("wrong options are refused: case %#", (options, message) => {
    expect(() => wechatPay(options)).toThrow(message);
  });
});
