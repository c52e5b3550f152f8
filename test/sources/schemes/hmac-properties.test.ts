import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createHmacScheme } from "../../../src/sources/index.ts";
import type { HmacData, KeyFormat } from "../../../src/sources/schemes/hmac-data.ts";
import { signHmacRequest } from "../../../src/sources/schemes/sign-hmac.ts";

const NOW = new Date("2026-01-01T00:00:00.123Z");
const clock = { now: () => NOW };
const ORIGIN = "https://hooks.example";
const TARGET = "/api/acme/callback?shop=a%20b&n=1";
const SIGNED_HEADERS = { "X-Id": "evt.1", "X-Nonce": "é-nonce" };

const timestampRule = fc.record({
  header: fc.constant("X-Time"),
  unit: fc.constantFrom("seconds" as const, "milliseconds" as const, "iso" as const),
  toleranceSeconds: fc.constantFrom(null, 1, 300),
  direction: fc.constantFrom("both" as const, "past" as const),
});
const fields = fc.record({
  separator: fc.constantFrom(",", ";", " ", ", "),
  assignment: fc.constantFrom("=", ","),
  value: fc.constantFrom("v1", "h1"),
  timestamp: fc.constantFrom("t", undefined),
});
const place = fc.record({
  header: fc.constantFrom("X-Sig", ["X-Sig", "X-Sig-2"]),
  encoding: fc.constantFrom("hex" as const, "base64" as const, "base64url" as const),
  prefix: fc.constantFrom(undefined, "sha256=", "v0:"),
  fields: fc.option(
    fields.filter(({ separator, assignment }) => !separator.includes(assignment)),
    { nil: undefined },
  ),
  padding: fc.constantFrom(undefined, "optional" as const),
});
const PIECES = [
  "{body}",
  "{header.X-Id}",
  "{header.X-None|X-Nonce}",
  "{url}",
  "{method}",
  "{target}",
  "{path}",
  "{query.shop}",
  ".",
  "v0:",
];

/** Every place is signed, so that no bit of a request may change. */
const data: fc.Arbitrary<HmacData> = fc
  .record({
    algorithm: fc.constantFrom(
      "sha1" as const,
      "sha256" as const,
      "sha512" as const,
      "plain-sha256" as const,
      undefined,
    ),
    key: fc.constantFrom<KeyFormat | undefined>("text", "hex", "base64", "base64url", "whsec", undefined),
    signature: place,
    timestamp: timestampRule,
    pieces: fc.shuffledSubarray(PIECES),
  })
  .map(({ pieces, signature, ...rest }) => {
    const secret = rest.algorithm === "plain-sha256" ? "{secret}" : "";
    const signed = `{timestamp}${secret}${pieces.filter((piece) => piece !== "{body}").join("")}{body}`;
    return { ...rest, signature, signed } as HmacData;
  });

const SECRETS = ["one", "two", "three"].map((name) => Buffer.from(`the-secret-number-${name}-of-three`));

/** A secret's text in the format of the data. */
function secretText(bytes: Buffer, { key }: HmacData): string {
  if (key === "hex") return bytes.toString("hex");
  if (key === "base64" || key === "base64url") return bytes.toString(key);
  return key === "whsec" ? `whsec_${bytes.toString("base64")}` : bytes.toString();
}

function schemeOf(given: HmacData, secrets: readonly Buffer[] = SECRETS) {
  const texts = secrets.map((bytes) => secretText(bytes, given));
  return createHmacScheme(given, { secrets: texts, clock, origin: () => ORIGIN });
}

function signedHeaders(given: HmacData, secret: Buffer, body: Uint8Array): Record<string, string> {
  const request = { body, headers: SIGNED_HEADERS, target: TARGET, origin: ORIGIN, now: NOW };
  return signHmacRequest(given, { ...request, secret: secretText(secret, given) });
}

function requestOf(headers: Readonly<Record<string, string>>, body: Uint8Array) {
  const all = Object.entries({ ...SIGNED_HEADERS, ...headers }).map(([name, value]) => [name.toLowerCase(), [value]]);
  return { method: "POST", target: TARGET, headers: Object.fromEntries(all), body: Buffer.from(body) };
}

function flipped(bytes: Uint8Array, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  const at = (bit >> 3) % copy.length;
  copy[at] = (copy[at] ?? 0) ^ (1 << (bit & 7));
  return copy;
}

describe("any data of the HMAC engine", () => {
  it("what signHmacRequest signs is accepted, with the index of the secret among three", () => {
    fc.assert(
      fc.property(data, fc.uint8Array(), fc.nat({ max: 2 }), (given, body, index) => {
        const headers = signedHeaders(given, SECRETS[index]!, body);
        const verdict = schemeOf(given).verify(requestOf(headers, body));
        expect(verdict).toMatchObject({ verified: [{ method: "hmac", index }] });
      }),
    );
  });

  it("what another secret signed is refused", () => {
    fc.assert(
      fc.property(data, fc.uint8Array(), (given, body) => {
        const headers = signedHeaders(given, SECRETS[2]!, body);
        const verdict = schemeOf(given, SECRETS.slice(0, 2)).verify(requestOf(headers, body));
        expect(verdict).toMatchObject({
          code: "signature_mismatch",
          detail: expect.stringContaining("X-Sig"),
        });
      }),
    );
  });

  it("one flipped bit of the body is refused", () => {
    fc.assert(
      fc.property(data, fc.uint8Array({ minLength: 1 }), fc.nat(), (given, body, bit) => {
        const headers = signedHeaders(given, SECRETS[0]!, body);
        const verdict = schemeOf(given).verify(requestOf(headers, flipped(body, bit)));
        expect(verdict).toMatchObject({ code: "signature_mismatch" });
      }),
    );
  });

  it("one flipped bit of the signature or of the timestamp, wherever they stand, is refused", () => {
    fc.assert(
      fc.property(data, fc.uint8Array(), fc.nat(), fc.nat(), (given, body, which, bit) => {
        const headers = signedHeaders(given, SECRETS[0]!, body);
        const names = Object.keys(headers);
        const name = names[which % names.length]!;
        const value = flipped(Buffer.from(headers[name]!, "latin1"), bit).toString("latin1");
        const verdict = schemeOf(given).verify(requestOf({ ...headers, [name]: value }, body));
        expect(verdict).toMatchObject({
          kind: "refused",
          code: expect.stringMatching(/^(signature|timestamp)_/),
        });
      }),
    );
  });

  it("the byte 0xff is not the byte 0xfe, though both decode to one text", () => {
    fc.assert(
      fc.property(data, (given) => {
        const headers = signedHeaders(given, SECRETS[0]!, Uint8Array.of(0xff));
        const { verify } = schemeOf(given);
        expect(verify(requestOf(headers, Uint8Array.of(0xff)))).toHaveProperty("verified");
        expect(verify(requestOf(headers, Uint8Array.of(0xfe)))).toMatchObject({ code: "signature_mismatch" });
      }),
    );
  });

  it("a header that holds any text is refused without an error", { tags: "full" }, () => {
    const text = fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^(t=\d{1,14}[,; ])?v1[=,][0-9a-f]{64}$/));
    fc.assert(
      fc.property(data, text, text, (given, signature, time) => {
        const headers = { "X-Sig": signature, "X-Time": time };
        expect(schemeOf(given).verify(requestOf(headers, Buffer.of()))).toMatchObject({ kind: "refused" });
      }),
    );
  });
});
