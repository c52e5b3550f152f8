import { createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createHmacScheme } from "../../../src/sources/index.ts";
import type { HmacData, KeyFormat, TimestampRule } from "../../../src/sources/schemes/hmac-data.ts";

const SECRET = "whsec_is_text_here";
const BODY = Buffer.from('{"a":1}');
const NOW = 1_767_225_600;
const clock = { now: () => new Date(NOW * 1000) };
const STRIPE: HmacData = {
  signature: {
    header: "Stripe-Signature",
    encoding: "hex",
    fields: { separator: ",", assignment: "=", value: "v1", timestamp: "t" },
  },
  signed: "{timestamp}.{body}",
  timestamp: { unit: "seconds", toleranceSeconds: 300 },
};
const mac = (text: string) => createHmac("sha256", SECRET).update(text).digest("hex");
const RIGHT = mac(`${NOW}.{"a":1}`);
const WRONG = "0".repeat(64);
const CURRENT = { verified: [{ method: "hmac", index: 0 }] };

type Headers = Readonly<Record<string, readonly string[]>>;
function verify(data: HmacData, headers: Headers, target = "/hook", body = BODY) {
  const scheme = createHmacScheme(data, { secrets: [SECRET], clock, origin: () => "https://a.example" });
  return scheme.verify({ method: "POST", target, headers, body });
}
const stripe = (...values: string[]) => verify(STRIPE, { "stripe-signature": values });

describe("several signatures in one header", () => {
  it.each([0, 1, 2])("the right one at place %i of three is accepted", (at) => {
    const all = [WRONG, WRONG, WRONG].with(at, RIGHT).map((one) => `v1=${one}`);
    expect(stripe(`t=${NOW},${all.join(",")}`)).toMatchObject(CURRENT);
  });

  it("a right signature under another scheme's name is refused", () => {
    expect(stripe(`t=${NOW},v0=${RIGHT}`)).toMatchObject({ code: "signature_malformed" });
  });

  it("the sixteenth signature is accepted and a seventeenth is refused", () => {
    const many = (count: number) => `t=${NOW}${`,v1=${WRONG}`.repeat(count - 1)},v1=${RIGHT}`;
    expect(stripe(many(16))).toMatchObject(CURRENT);
    expect(stripe(many(17))).toMatchObject({
      code: "signature_malformed",
      detail: "`Stripe-Signature`: more than 16 signatures",
    });
  });

  it("a header of 16 KiB is refused by its length, though the right signature is its first", () => {
    const long = `t=${NOW},v1=${RIGHT},`.padEnd(16_384, "x=,");
    expect(stripe(long)).toMatchObject({
      code: "signature_malformed",
      detail: "`Stripe-Signature`: longer than 4096 characters",
    });
  });

  it("seventeen signatures over several headers are refused", () => {
    const header = Array.from({ length: 17 }, (_, number) => `X-Sig-${number + 1}`);
    const data: HmacData = { signature: { header, encoding: "hex" }, signed: "{body}" };
    const headers = (count: number) =>
      Object.fromEntries(header.slice(0, count).map((name) => [name.toLowerCase(), [mac('{"a":1}')]]));
    expect(verify(data, headers(16))).toMatchObject(CURRENT);
    expect(verify(data, headers(17))).toMatchObject({ code: "signature_malformed" });
  });
});

describe("a refusal of a platform's signature", () => {
  it.each([
    [[], "signature_missing", "`Stripe-Signature`: missing; expected a signature"],
    [[""], "signature_missing", "`Stripe-Signature`: missing; expected a signature"],
    [["a", "b"], "signature_repeated", "`Stripe-Signature`: stands 2 times, expected once"],
    [[`t=${NOW}`], "signature_malformed", "`Stripe-Signature`: holds no field `v1`"],
    [
      [`t=${NOW},v1=${RIGHT.toUpperCase()}`],
      "signature_malformed",
      "`Stripe-Signature`: expected 64 lowercase hexadecimal digits in `v1`",
    ],
    [
      [`t=${NOW},v1=${WRONG}`],
      "signature_mismatch",
      "`Stripe-Signature`: made with another secret, or over other than {timestamp}.{body}",
    ],
    [[`v1=${RIGHT}`], "timestamp_missing", "`Stripe-Signature`: `t`: missing, expected whole seconds since the epoch"],
    [[`t=${NOW},t=${NOW},v1=${RIGHT}`], "timestamp_missing", "`Stripe-Signature`: `t` stands more than once"],
    [
      [`t=${NOW - 301},v1=${mac(`${NOW - 301}.{"a":1}`)}`],
      "timestamp_stale",
      "`Stripe-Signature`: `t`: 301 s ago, expected at most 300 s",
    ],
  ])("a refusal of a platform's signature of %j is %s and names the header", (values, code, detail) => {
    expect(stripe(...values)).toMatchObject({ kind: "refused", code, detail });
  });

  it.each([
    [{}, "/hook?id=1", "signature_malformed", "`X-Id`: missing, and the signature covers it"],
    [{ "x-id": ["a", "b"] }, "/hook?id=1", "signature_repeated", "`X-Id`: stands 2 times, and is signed"],
    [{ "x-id": ["\u0161"] }, "/hook?id=1", "signature_malformed", "`X-Id`: not a text of at most 2048 characters"],
    [
      { "x-id": ["a".repeat(2049)] },
      "/hook?id=1",
      "signature_malformed",
      "`X-Id`: not a text of at most 2048 characters",
    ],
    [{ "x-id": ["a"] }, "/hook", "signature_malformed", "query parameter `id`: missing, and the signature covers it"],
    [
      { "x-id": ["a"] },
      "/hook?id=1&id=1",
      "signature_malformed",
      "query parameter `id`: stands more than once, and is signed",
    ],
    [
      { "x-id": ["a"] },
      "/hook?id=%ff",
      "signature_malformed",
      "query parameter `id`: not UTF-8 of at most 2048 characters",
    ],
  ])("a refusal of a platform's signature of the signed parts %j in %s is %s", (headers, target, code, detail) => {
    const data: HmacData = {
      signature: { header: "X-Sig", encoding: "hex" },
      signed: "{header.X-Id}{query.id}{body}",
    };
    expect(verify(data, { "x-sig": [RIGHT], ...headers }, target)).toMatchObject({ code, detail });
  });
});

describe("the encoding of a signature", () => {
  const digest = Buffer.from(mac('{"a":1}'), "hex");
  const base64 = digest.toString("base64");
  const spare = `${base64.slice(0, -2) + String.fromCharCode(base64.charCodeAt(base64.length - 2) + 1)}=`;
  const base = { header: "X-Sig", encoding: "base64" } as const;
  const url = { header: "X-Sig", encoding: "base64url" } as const;
  const bare = digest.toString("base64url");
  const of = (signature: HmacData["signature"], text: string) =>
    verify({ signature, signed: "{body}" }, { "x-sig": [text] });

  it.each([
    [base, base64],
    [{ ...base, padding: "optional" }, base64],
    [{ ...base, padding: "optional" }, base64.slice(0, -1)],
    [url, bare],
    [{ ...url, padding: "optional" }, `${bare}=`],
    [{ header: "X-Sig", encoding: "hex", anyCase: true }, digest.toString("hex").toUpperCase()],
  ] as const)("%j accepts %s", (signature, text) => {
    expect(of(signature, text)).toMatchObject(CURRENT);
  });

  it.each([
    [base, base64.slice(0, -1)],
    [base, `${base64}=`],
    [base, ` ${base64}`],
    [base, `${base64}\n`],
    [base, spare],
    [url, `${bare}=`],
    [url, base64],
    [{ header: "X-Sig", encoding: "hex" }, digest.toString("hex").toUpperCase()],
    [{ header: "X-Sig", encoding: "hex", prefix: "sha256=" }, digest.toString("hex")],
    [{ header: "X-Sig", encoding: "hex", prefix: "sha256=" }, `SHA256=${digest.toString("hex")}`],
  ] as const)("%j refuses %j", (signature, text) => {
    // The spare bits hold a text of the same bytes.
    if (text === spare) expect(Buffer.from(text, "base64")).toEqual(digest);
    expect(of(signature, text)).toMatchObject({ code: "signature_malformed" });
  });
});

describe("a platform's timestamp", () => {
  const timed = (rule: Omit<TimestampRule, "header">, text: string) =>
    verify(
      {
        signature: { header: "X-Sig", encoding: "hex" },
        signed: "{timestamp}{body}",
        timestamp: { header: "X-Time", ...rule },
      },
      { "x-sig": [mac(`${text}{"a":1}`)], "x-time": [text] },
    );

  it.each([
    ["seconds", String(NOW)],
    ["milliseconds", `${NOW}999`],
    ["iso", "2026-01-01T00:00:00Z"],
    ["iso", "2026-01-01T00:00:00.634234626Z"],
    ["iso", "2025-12-31T17:00:00-07:00"],
    ["iso", "2026-01-01T05:30:00.1+05:30"],
    ["iso", "2025-12-31T23:59:60Z"],
  ] as const)("a timestamp in %s is read: %s", (unit, text) => {
    expect(timed({ unit, toleranceSeconds: 1 }, text)).toMatchObject(CURRENT);
  });

  it.each([
    ["seconds", `${NOW}.5`],
    ["seconds", `+${NOW}`],
    ["seconds", ` ${NOW}`],
    ["seconds", "1e9"],
    ["seconds", "0x69"],
    ["seconds", ""],
    ["milliseconds", `${NOW}000000`],
    ["iso", "2026-01-01"],
    ["iso", "2026-01-01T00:00:00"],
    ["iso", "2026-01-01 00:00:00Z"],
    ["iso", "2026-02-30T00:00:00Z"],
    ["iso", "2026-13-01T00:00:00Z"],
    ["iso", "2026-01-01T24:00:00Z"],
    ["iso", "2026-01-01T00:00:00.1234567890Z"],
    ["iso", "Thu, 01 Jan 2026 00:00:00 GMT"],
  ] as const)("a timestamp in %s is refused: %j", (unit, text) => {
    expect(timed({ unit, toleranceSeconds: null }, text)).toMatchObject({ code: "timestamp_missing" });
  });

  it.each([
    ["both", -300, undefined],
    ["both", 300, undefined],
    ["both", -301, "timestamp_stale"],
    ["both", 301, "timestamp_stale"],
    ["past", -301, "timestamp_stale"],
    ["past", 86_400, undefined],
  ] as const)("a timestamp in the direction %s at %i s from now gives %s", (direction, distance, code) => {
    const verdict = timed({ unit: "seconds", toleranceSeconds: 300, direction }, String(NOW + distance));
    expect(verdict).toMatchObject(code === undefined ? CURRENT : { code });
  });

  it("every time that RFC 3339 can write in UTC is read as Date reads it", () => {
    const nearby = fc.date({ min: new Date("1970-01-02"), max: new Date("9999-01-01"), noInvalidDate: true });
    fc.assert(
      fc.property(nearby, (time) => {
        const data: HmacData = {
          signature: { header: "X-Sig", encoding: "hex" },
          signed: "{body}",
          timestamp: { header: "X-Time", unit: "iso", toleranceSeconds: 0 },
        };
        const scheme = createHmacScheme(data, { secrets: [SECRET], clock: { now: () => time } });
        const headers = { "x-sig": [mac("")], "x-time": [time.toISOString()] };
        const stale = scheme.verify({ method: "POST", target: "/", headers, body: Buffer.of() });
        // The fraction is added in binary floating point.
        const detail = "detail" in stale ? stale.detail : "0 s";
        expect(detail).toMatch(/^(X-Time: )?0 s/);
      }),
    );
  });
});

describe("a scheme that cannot be right", () => {
  const data = (key: KeyFormat): HmacData => ({ ...STRIPE, key });
  it.each([
    [data("text"), [], "`secret`: got none, expected at least one"],
    [data("text"), [""], "`secret`: got an empty text, expected what the platform shows"],
    [data("text"), [Buffer.of()], "`secret`: got an empty key"],
    [data("whsec"), ["whsec_"], "`secret`: got an empty key"],
    [data("text"), ["good", "bad\n"], "`secret` 2 of 2: got a text with white space or a newline around it"],
    [data("text"), ["bad "], "`secret`: got a text with white space"],
    [data("hex"), ["abc"], "`secret`: expected an even number of hexadecimal digits"],
    [data("hex"), ["xyzt"], "`secret`: expected an even number of hexadecimal digits"],
    [data("base64"), ["a-b_"], "`secret`: expected base64"],
    [data("base64url"), ["a+b/"], "`secret`: expected base64url"],
    [data("whsec"), ["whsec_not base64"], "`secret`: expected base64, with or without `whsec_` before it"],
    [{ ...STRIPE, signed: "{boddy}" }, ["a"], "`signed`: got {boddy}"],
    [{ ...STRIPE, signed: "{header.}" }, ["a"], "`signed`: got {header.}"],
    [{ ...STRIPE, signed: "{body" }, ["a"], "`signed`: got a brace that is not closed"],
    [{ ...STRIPE, signed: "{url}" }, ["a"], "`signed`: got {url}, expected the origin"],
    [{ ...STRIPE, signed: "{secret}{body}" }, ["a"], "`signed`: {secret} must stand in what a plain hash signs"],
    [{ ...STRIPE, algorithm: "plain-sha1" }, ["a"], "`signed`: {secret} must stand in what a plain hash signs"],
    [{ signature: { header: "X", encoding: "hex" }, signed: "{timestamp}" }, ["a"], "expected `timestamp` beside it"],
    [{ ...STRIPE, signature: { ...STRIPE.signature, mayRepeat: true } }, ["a"], "signature.mayRepeat"],
  ] as const)("a wrong scheme throws a TypeError that says why: %#", (given, secrets, message) => {
    const create = () => createHmacScheme(given, { secrets, clock });
    expect(create).toThrow(TypeError);
    expect(create).toThrow(message);
  });
});
