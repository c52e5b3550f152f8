import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/domain/index.ts";
import { createMask } from "../../src/observe/index.ts";

const mask = createMask({});
const body = (text: string) => mask.body(Buffer.from(text));
const sha256 = (text: string | Uint8Array) => createHash("sha256").update(text).digest("hex");
const unparsed = (text: string) =>
  JSON.stringify({ unparsed: true, bytes: Buffer.byteLength(text), sha256: sha256(text) });

describe("masked JSON", () => {
  it("hides whatever value stands under a sensitive key", () => {
    const value = { code: null, otp: 123456, pin: false, credentials: { user: "ada" }, card: [1, 2] };
    const masked = mask.json(value);
    expect(new Set(Object.values(masked as object))).toEqual(new Set(["[masked]"]));
  });

  it("shows codes that are no secrets", () => {
    const value = { error_code: "E1", country_code: "DE", status_code: 200, currency_code: "EUR" };
    expect(mask.json(value)).toEqual(value);
  });

  it("keeps a __proto__ key a key", () => {
    const value: JsonValue = JSON.parse('{"__proto__":{"admin":true,"token":"t"}}');
    expect(JSON.stringify(mask.json(value))).toBe('{"__proto__":{"admin":true,"token":"[masked]"}}');
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  it("reads JSON that stands in a string", () => {
    expect(mask.json({ Message: '{"access_token":"t","id":1}' })).toEqual({
      Message: '{"access_token":"[masked]","id":1}',
    });
  });

  it("leaves JSON in a string as it was written where it holds nothing sensitive", () => {
    expect(mask.json({ Message: '{ "id" : 1 }' })).toEqual({ Message: '{ "id" : 1 }' });
  });

  it("hides what nests deeper than 64 levels instead of failing", () => {
    const deep = (levels: number): JsonValue => JSON.parse("[".repeat(levels) + "]".repeat(levels));
    expect(mask.json(deep(64))).toEqual(deep(64));
    expect(JSON.stringify(mask.json(deep(5_000)))).toBe(`${"[".repeat(64)}"[masked]"${"]".repeat(64)}`);
  });

  it("knows sensitive keys after thousands of others, and at any length", () => {
    const keys = Array.from({ length: 3_000 }, (_, index) => [`key${index}`, index]);
    const long = `${"x".repeat(500)}Token`;
    const others: Record<string, number> = Object.fromEntries(keys);
    expect(mask.json({ ...others, token: "t", [long]: "t", id: 1 })).toEqual({
      ...others,
      token: "[masked]",
      [long]: "[masked]",
      id: 1,
    });
  });

  it("hides the keys an operator adds, in any spelling", () => {
    const custom = createMask({ keys: ["tax_number"] });
    expect(custom.json({ taxNumber: 1, "TAX-NUMBER": 2, tax: 3 })).toEqual({
      taxNumber: "[masked]",
      "TAX-NUMBER": "[masked]",
      tax: 3,
    });
  });
});

describe("masked bodies", () => {
  it("is empty for an empty body", () => {
    expect(body("")).toBe("");
  });

  it("shows JSON with its secrets masked", () => {
    expect(body('{ "event_id": "e1", "data": {"code": "c"} }')).toBe(
      '{"event_id":"e1","data":{"code":"[masked]"}}',
    );
  });

  it("shows a form with its secrets masked", () => {
    expect(body("code=abc&state=&data[token]=t&name=Ada+L")).toBe(
      "code=[masked]&state=[masked]&data[token]=[masked]&name=Ada+L",
    );
  });

  it("hides JSON with secrets that stands in a form", () => {
    expect(body(`payload=${encodeURIComponent('{"access_token":"t"}')}&a=1`)).toBe("payload=[masked]&a=1");
  });

  it.each([
    ["plain text", "the password is hunter2"],
    ["a JSON string", '"hunter2"'],
    ["broken JSON", '{"code":"hunter2"'],
    ["base64 that ends like a form", "aHVudGVyMg=="],
    ["a byte order mark before JSON", '\uFEFF{"a":1}'],
    ["JSON nested 65 levels deep", "[".repeat(65) + "]".repeat(65)],
    ["JSON over 256 KiB", JSON.stringify({ note: "x".repeat(262_144) })],
  ])("tells only length and fingerprint of %s", (_, text) => {
    expect(body(text)).toBe(unparsed(text));
  });

  it("tells only length and fingerprint of bytes that are not UTF-8", () => {
    const bytes = Uint8Array.of(0x7b, 0xff, 0x7d);
    expect(JSON.parse(mask.body(bytes))).toEqual({ unparsed: true, bytes: 3, sha256: sha256(bytes) });
  });

  it("reads a view into a larger buffer as the view", () => {
    expect(mask.body(new Uint8Array(Buffer.from('xx{"a":1}yy')).subarray(2, 9))).toBe('{"a":1}');
  });

  it.each([10, 100_000, 300_000])(
    "shows one of JSON that was parsed already as it shows its bytes: %i characters of text",
    (length) => {
      const value = { token: "t", text: "x".repeat(length) };
      const bytes = Buffer.from(JSON.stringify(value));
      expect(mask.parsed(value, bytes)).toBe(mask.body(bytes));
    },
  );

  it("cuts what is longer than 64 KiB, after masking it", () => {
    const text = JSON.stringify({ token: "hunter2", note: "ü".repeat(40_000) });
    const shown = JSON.parse(body(text));
    expect(shown).toEqual({
      truncated: true,
      bytes: Buffer.byteLength(text),
      sha256: sha256(text),
      start: `{"token":"[masked]","note":"${"ü".repeat(2_048 - 28)}`,
    });
  });
});

describe("masked URLs", () => {
  it.each([
    ["/cb?code=a&state=b&x=1", "/cb?code=[masked]&state=[masked]&x=1"],
    ["/cb?c%6Fde=a", "/cb?c%6Fde=[masked]"],
    ["/cb?a=1;code=b#access_token=c", "/cb?a=1;code=[masked]#access_token=[masked]"],
    ["/cb?next=https%3A%2F%2Fx%2F%3Fcode%3Da", "/cb?next=[masked]"],
    ["/cb?q=Bearer%20abc", "/cb?q=[masked]"],
    ["http://ada:s3cret@host/cb", "http://ada:[masked]@host/cb"],
    ["/a%ZZ?code=%E0%A4", "/a%ZZ?code=[masked]"],
    ["http://[::1", "http://[::1"],
    ["", ""],
  ])("%s is shown as %s", (url, shown) => {
    expect(mask.url(url)).toBe(shown);
  });
});

describe("masked headers", () => {
  it("shows ordinary headers, repeated ones joined and absent ones left out", () => {
    const shown = mask.headers({ host: "h", "x-many": ["a", "b"], "x-none": undefined });
    expect(shown).toEqual({ host: "h", "x-many": "a, b" });
  });

  it("bounds a value to 1 KiB", () => {
    expect(mask.headers({ "user-agent": "x".repeat(5_000) })["user-agent"]).toHaveLength(1_024);
  });

  it("masks a code inside an ordinary header", () => {
    expect(mask.headers({ referer: "https://h/?code=abc" })).toEqual({ referer: "https://h/?code=[masked]" });
  });

  it("hides the headers an operator adds, in any case", () => {
    expect(createMask({ headers: ["X-Tenant"] }).headers({ "x-tenant": "t" })).toEqual({
      "x-tenant": "[masked]",
    });
  });
});

describe("masked text", () => {
  it.each([
    ["error: token=abc", "error: token=[masked]"],
    ['{"password":"a\\"b","id":1}', '{"password":"[masked]","id":1}'],
    ['{\\"access_token\\":\\"abc\\"}', '{\\"access_token\\":\\"[masked]\\"}'],
    ['password="never closed', 'password="[masked]"'],
    ["Authorization: Digest username=ada, response=1\nnext line", "Authorization: [masked]\nnext line"],
    ['refused: "credentials":{"a":1}', 'refused: "credentials":[masked]'],
    ["connect ECONNREFUSED 127.0.0.1:5432", "connect ECONNREFUSED 127.0.0.1:5432"],
    [
      "    at run (file:///app/src/receive/receive.ts:12:34)",
      "    at run (file:///app/src/receive/receive.ts:12:34)",
    ],
  ])("%s is shown as %s", (text, shown) => {
    expect(mask.text(text)).toBe(shown);
  });

  it("is cut to 64 KiB, and may be of any length before", () => {
    expect(mask.text(`token=abc ${"4".repeat(8_000_000)}`)).toBe(`token=[masked] ${"4".repeat(65_536 - 15)}`);
  });
});
