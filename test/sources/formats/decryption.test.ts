import { createCipheriv, randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../src/domain/index.ts";
import type { ContractData } from "../../../src/sources/contract/event-contract.ts";
import { decryptCbc, decryptGcm, decryptJson, encryptCbc } from "../../../src/sources/formats/decryption.ts";
import { lark } from "../../../src/sources/platforms/index.ts";
import { contractOf, requestOf } from "../../support/contract.ts";
import { opened, sent } from "../../support/preset-source.ts";

const key = randomBytes(32);
const iv = randomBytes(16);

describe("decryption", () => {
  it("decryption of AES-CBC gives back what was encrypted, with either padding", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom(16 as const, 32 as const), (plain, padsTo) => {
        const cipher = { key, iv, padsTo };
        expect(decryptCbc(encryptCbc(plain, cipher), cipher)).toEqual(Buffer.from(plain));
      }),
    );
  });

  it("decryption of AES-CBC takes what node:crypto pads", () => {
    const cipher = createCipheriv("aes-256-cbc", key, iv);
    const sealed = Buffer.concat([cipher.update("text"), cipher.final()]);
    expect(decryptCbc(sealed, { key, iv })?.toString()).toBe("text");
  });

  it("decryption of any bytes throws nothing", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.constantFrom(16 as const, 32 as const), (bytes, padsTo) => {
        const found = decryptCbc(bytes, { key, iv, padsTo });
        expect(found === undefined || found.length < bytes.length).toBe(true);
        expect(decryptGcm(bytes, { key, nonce: iv.subarray(4), associatedData: iv })).toBeUndefined();
      }),
    );
  });

  it("decryption of AES-GCM refuses each flipped bit of text, tag, nonce and data", () => {
    const nonce = iv.subarray(4);
    const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(iv);
    const sealed = Buffer.concat([cipher.update("text"), cipher.final(), cipher.getAuthTag()]);
    expect(decryptGcm(sealed, { key, nonce, associatedData: iv })?.toString()).toBe("text");
    const flipped = (bytes: Uint8Array, at: number) => bytes.map((byte, place) => (place === at ? byte ^ 1 : byte));
    for (let at = 0; at < sealed.length; at += 1)
      expect(decryptGcm(flipped(sealed, at), { key, nonce, associatedData: iv })).toBeUndefined();
    expect(decryptGcm(sealed, { key, nonce: flipped(nonce, 0), associatedData: iv })).toBeUndefined();
    expect(decryptGcm(sealed, { key, nonce, associatedData: flipped(iv, 0) })).toBeUndefined();
  });

  it("decryption takes the first key that gives JSON, and refuses what is none under all of them", () => {
    const plainOf = (text: string) => Buffer.from(text);
    expect(decryptJson(["not JSON", '{"a":1}'], plainOf, "")).toEqual({ value: { a: 1 } });
    expect(decryptJson(["not JSON"], plainOf, "why")).toMatchObject({
      code: "body_undecryptable",
      detail: "why",
    });
    expect(decryptJson(['{"__proto__":1}', "{}"], plainOf, "")).toMatchObject({ code: "body_forbidden_key" });
    expect(decryptJson(["[".repeat(62) + "]".repeat(62)], plainOf, "")).toMatchObject({
      code: "body_too_deep",
    });
  });
});

describe("a contract that decrypts", () => {
  const reversed = (body: JsonValue) => {
    const { sealed } = body as { sealed: string };
    return { value: JSON.parse([...sealed].reverse().join("")) as JsonValue };
  };
  const data: ContractData = { decrypt: reversed, id: "body.id", type: "body.type", headers: ["X-A"] };
  const seal = (event: object) => requestOf({ sealed: [...JSON.stringify(event)].reverse().join("") });

  it("a contract that decrypts reads id, type and data in the plain text", () => {
    expect(contractOf(data).read(seal({ id: "1", type: "a" }))).toMatchObject({
      event: { json: { event_id: "1", event_type: "a", data: { id: "1", type: "a" } } },
    });
  });

  it("a contract that decrypts reads a signed handshake and a batch in the plain text", () => {
    const handshakes = [
      { isSigned: true, when: { "body.type": "ping" }, reply: { kind: "status", status: 204 } },
    ] as const;
    const contract = contractOf({
      ...data,
      handshakes,
      id: "item.id",
      type: "item.type",
      batch: { at: "body.all" },
    });
    expect(contract.read(seal({ type: "ping" }))).toMatchObject({ kind: "handshake" });
    expect(contract.read(seal({ all: [{ id: "1", type: "a" }] }))).toMatchObject({ kind: "batch" });
  });

  it("a contract that decrypts reveals nothing of a padding to an unauthenticated sender: each unsigned body but a whole challenge goes on to the signature", async () => {
    const { contract, scheme } = opened(lark({ secret: "an Encrypt Key" }));
    const answers = new Set<string>();
    for (let byte = 0; byte < 256; byte += 1) {
      const sealed = Buffer.concat([iv, randomBytes(15), Buffer.of(byte)]).toString("base64");
      const request = sent({ encrypt: sealed });
      expect(contract.challenge?.(request)).toBeUndefined();
      answers.add(JSON.stringify(await scheme.verify(request)));
    }
    expect(answers.size).toBe(1);
  });
});
