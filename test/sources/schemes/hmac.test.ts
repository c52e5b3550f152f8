import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createHmacScheme, platformHmac, signHmac } from "../../../src/sources/index.ts";
import { systemClock } from "../../../src/system/index.ts";
import { POSTED } from "../../support/posted.ts";

const SECRET = "It's a Secret to Everybody";
const scheme = createHmacScheme(platformHmac(null), { secrets: [SECRET], clock: systemClock });
const CURRENT = { verified: [{ method: "hmac", index: 0 }] };
const verify = (body: Uint8Array, ...signatures: string[]) =>
  scheme.verify({ ...POSTED, body, headers: { "x-signature": signatures } });

describe("the HMAC scheme", () => {
  it("the HMAC scheme computes GitHub's published example, which has our form", () => {
    const digest = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";
    expect(signHmac(SECRET, Buffer.from("Hello, World!"))).toBe(digest);
    expect(verify(Buffer.from("Hello, World!"), digest)).toEqual(CURRENT);
  });

  it.each([
    [Buffer.alloc(20, 0x0b), "Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"],
    [
      Buffer.from("Jefe"),
      "what do ya want for nothing?",
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    ],
  ])("the HMAC scheme computes cases 1 and 2 of RFC 4231", (key, data, digest) => {
    expect(signHmac(key.toString("latin1"), Buffer.from(data))).toBe(digest);
  });

  it("the HMAC scheme accepts every body under its own signature and under no other", () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), (body, other) => {
        const signature = signHmac(SECRET, body);
        expect(verify(body, signature)).toEqual(CURRENT);
        if (Buffer.compare(body, other) !== 0)
          expect(verify(other, signature)).toMatchObject({ code: "signature_mismatch" });
      }),
    );
  });

  it("the HMAC distinguishes bytes that decode to the same text", () => {
    expect(verify(Uint8Array.of(0xfe), signHmac(SECRET, Uint8Array.of(0xff)))).toMatchObject({
      code: "signature_mismatch",
    });
  });

  it("the HMAC scheme refuses every text that is not 64 lowercase hexadecimal digits, without an error", {
    tags: "full",
  }, () => {
    const body = Buffer.from("{}");
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.constantFrom(..."0123456789abcdefABCDEF ") }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        fc.pre(!/^[0-9a-f]{64}$/.test(text));
        expect(verify(body, text)).toMatchObject({
          kind: "refused",
          code: expect.stringMatching(/^signature_(malformed|missing)$/),
        });
      }),
    );
  });

  it("the HMAC scheme refuses one changed digit anywhere", () => {
    const body = Buffer.from("{}");
    const signature = signHmac(SECRET, body);
    for (let index = 0; index < 64; index += 1) {
      const digit = signature[index] === "0" ? "1" : "0";
      expect(verify(body, signature.slice(0, index) + digit + signature.slice(index + 1))).toMatchObject({
        code: "signature_mismatch",
      });
    }
  });

  it.each([
    [[], "signature_missing"],
    [[""], "signature_missing"],
    [[signHmac(SECRET, Buffer.of()), signHmac(SECRET, Buffer.of())], "signature_repeated"],
    [[`${signHmac(SECRET, Buffer.of())}\n`], "signature_malformed"],
    [["š".repeat(64)], "signature_malformed"],
  ])("the HMAC scheme says why %j is refused", (signatures, code) => {
    expect(verify(Buffer.of(), ...signatures)).toMatchObject({ code, message: "invalid signature" });
  });

  it.each([
    [["1767225300"], undefined],
    [["1767225900"], undefined],
    [["1767225299"], "timestamp_stale"],
    [["1767225901"], "timestamp_stale"],
    [["99999999999"], "timestamp_stale"],
    [["1767225600", "1767225600"], "timestamp_missing"],
    [["1767225600.5"], "timestamp_missing"],
    [[], "timestamp_missing"],
  ])("the HMAC scheme accepts one X-Timestamp at most five minutes away, past or future: %j", (timestamps, code) => {
    const clock = { now: () => new Date("2026-01-01T00:00:00Z") };
    const timed = createHmacScheme(platformHmac(300), { secrets: [SECRET], clock });
    const headers = { "x-signature": [signHmac(SECRET, Buffer.of())], "x-timestamp": timestamps };
    const expected = code === undefined ? CURRENT : { kind: "refused", code };
    expect(timed.verify({ ...POSTED, body: Buffer.of(), headers })).toMatchObject(expected);
  });
});
