import { createDecipheriv, createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { dingtalk } from "../../../src/sources/platforms/index.ts";
import { opened, sent } from "../../support/preset-source.ts";

/** DingCallbackCrypto3.py, last lines: the event `{"EventType":"check_url"}`. */
const TOKEN = "mryue";
const AES_KEY = "Yue0EfdN5900c1ce5cf6A152c63DDe1808a60c5ecd7";
const OWNER_KEY = "ding6ccabc44d2c8d38b";
const VECTOR = sent(
  {
    encrypt:
      "0vJiX6vliEpwG3U45CtXqi+m8PXbQRARJ8p8BbDuD1EMTDf0jKpQ79QS93qEk7XHpP6u+oTTrd15NRPvNvmBKyDCYxxOK+HZeKju4yhELOFchzNukR+t8SB/qk4ROMu3",
  },
  {
    query: "?msg_signature=03044561471240d4a14bb09372dfcfd4fd0e40cb&timestamp=1608001896814&nonce=WL4PK6yA",
  },
);
const OPTIONS = { secret: TOKEN, aesKey: AES_KEY, ownerKey: OWNER_KEY };

interface Acknowledgement {
  readonly msg_signature: string;
  readonly timeStamp: string;
  readonly nonce: string;
  readonly encrypt: string;
}

/** As DingTalk reads a response. */
function plainOf({ msg_signature, timeStamp, nonce, encrypt }: Acknowledgement): string {
  const sorted = [TOKEN, timeStamp, nonce, encrypt].sort().join("");
  expect(msg_signature).toBe(createHash("sha1").update(sorted).digest("hex"));
  const key = Buffer.from(`${AES_KEY}=`, "base64");
  const decipher = createDecipheriv("aes-256-cbc", key, key.subarray(0, 16)).setAutoPadding(false);
  const padded = Buffer.concat([decipher.update(encrypt, "base64"), decipher.final()]);
  const plain = padded.subarray(0, -(padded.at(-1) ?? 0));
  const end = 20 + plain.readUInt32BE(16);
  expect(plain.subarray(end).toString()).toBe(OWNER_KEY);
  return plain.subarray(20, end).toString();
}

describe("the preset dingtalk", () => {
  it("the preset dingtalk answers the vector's check of the address with an encrypted and signed success", async () => {
    const { scheme, contract } = opened(dingtalk(OPTIONS));
    expect(await scheme.verify(VECTOR)).toMatchObject({ verified: [{ method: "hmac", index: 0 }] });
    const found = contract.read(VECTOR);
    if (found.kind !== "handshake") throw new Error(`got ${found.kind}`);
    const response = await found.respond();
    expect(response).toMatchObject({ status: 200 });
    expect(plainOf(JSON.parse("body" in response ? response.body : ""))).toBe("success");
  });

  it("the preset dingtalk answers a handled event, a duplicate and an ignored one likewise", () => {
    const { contract } = opened(dingtalk(OPTIONS));
    for (const kind of ["success", "already_processed", "ignored"] as const) {
      const response = contract.respond?.({ kind, result: {} } as never);
      expect(plainOf(JSON.parse(response?.body ?? ""))).toBe("success");
    }
  });

  it.each([
    ["another aesKey", { aesKey: AES_KEY.toLowerCase() }],
    ["another ownerKey", { ownerKey: "ding0000000000000000" }],
  ])("an authentic event for %s is refused as undecryptable", (_case, other) => {
    const { contract } = opened(dingtalk({ ...OPTIONS, ...other }));
    expect(contract.read(VECTOR)).toMatchObject({ kind: "refused", code: "body_undecryptable" });
  });

  it("the previous aesKey decrypts while it is rotated", () => {
    const { contract } = opened(dingtalk({ ...OPTIONS, aesKey: [AES_KEY.toLowerCase(), AES_KEY] }));
    expect(contract.read(VECTOR)).toMatchObject({ kind: "handshake" });
  });

  it.each([
    [{ ...OPTIONS, aesKey: "short" }, /`aesKey`: got 5 characters, expected the 43/],
    [{ ...OPTIONS, ownerKey: undefined }, /`ownerKey`: got none/],
    [{ ...OPTIONS, aesKey: undefined }, /`aesKey`: got none/],
  ])("wrong options are refused: %j", (options, message) => {
    expect(() => dingtalk(options)).toThrow(message);
  });

  it.each([
    "",
    "?signature=03&timestamp=1&nonce=2",
    `?signature=${"0".repeat(40)}&nonce=2`,
    `?signature=${"0".repeat(40)}&timestamp=1&nonce=2&nonce=3`,
    `?signature=${"0".repeat(40)}&timestamp=1&nonce=2`,
  ])("a query without a right signature is refused: %j", async (query) => {
    const { scheme } = opened(dingtalk(OPTIONS));
    expect(await scheme.verify({ ...VECTOR, target: `/api/a/callback${query}` })).toMatchObject({
      kind: "refused",
      detail: expect.stringMatching(/signature|timestamp/),
    });
  });
});
