import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/domain/index.ts";
import { createMask } from "../../src/observability/index.ts";

const mask = createMask({});
const body = (text: string) => mask.body(Buffer.from(text));
const sha256 = (text: string | Uint8Array) => createHash("sha256").update(text).digest("hex");
const unparsed = (text: string) =>
  JSON.stringify({ unparsed: true, bytes: Buffer.byteLength(text), sha256: sha256(text) });

describe("masked JSON", () => {
  it("masking hides whatever value stands under a sensitive key", () => {
    const value = { code: null, otp: 123456, pin: false, credentials: { user: "ada" }, card: [1, 2] };
    const masked = mask.json(value);
    expect(new Set(Object.values(masked as object))).toEqual(new Set(["[masked]"]));
  });

  it("masking shows codes that are no secrets", () => {
    const value = { error_code: "E1", country_code: "DE", status_code: 200, currency_code: "EUR" };
    expect(mask.json(value)).toEqual(value);
  });

  it("masking keeps a __proto__ key a key", () => {
    const value: JsonValue = JSON.parse('{"__proto__":{"admin":true,"token":"t"}}');
    expect(JSON.stringify(mask.json(value))).toBe('{"__proto__":{"admin":true,"token":"[masked]"}}');
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  it("masking reads JSON that stands in a string", () => {
    expect(mask.json({ Message: '{"access_token":"t","id":1}' })).toEqual({
      Message: '{"access_token":"[masked]","id":1}',
    });
  });

  it("masking leaves JSON in a string as it was written where it holds nothing sensitive", () => {
    expect(mask.json({ Message: '{ "id" : 1 }' })).toEqual({ Message: '{ "id" : 1 }' });
  });

  describe("of a source whose field is JSON in base64", () => {
    const inside = createMask({ keys: ["email"], base64Keys: ["data"] });
    const encoded = (value: object, as: "base64" | "base64url" = "base64") =>
      Buffer.from(JSON.stringify(value)).toString(as);
    const PERSON = { email: "ada@example.com", password: "hunter2", note: "a>b?c>" };
    const SHOWN = { email: "[masked]", password: "[masked]", note: "a>b?c>" };
    const bodyOf = (data: string) => JSON.stringify({ message: { data, messageId: "1" } });

    it.each(["base64", "base64url"] as const)("masking reads JSON in %s, and encodes it again", (as) => {
      const text = bodyOf(encoded(PERSON, as));
      expect(inside.body(Buffer.from(text), { isJson: true })).toBe(bodyOf(encoded(SHOWN, as)));
      const escaped = text.replaceAll("/", "\\/");
      expect(inside.body(Buffer.from(escaped), { isJson: true })).toBe(bodyOf(encoded(SHOWN, as)));
      expect(mask.body(Buffer.from(text), { isJson: true })).toBe(text);
    });

    it.each(["hello", encoded({ order: 7 }), "eyJ", "", "[masked]"])(
      "%j, which holds no secret, stays as it came",
      (data) => {
        expect(inside.body(Buffer.from(bodyOf(data)), { isJson: true })).toBe(bodyOf(data));
      },
    );

    it("the shown beginning of a body that is too long is masked inside too", () => {
      const json = `{ "password": "hunter2", "rest": "${"x".repeat(100_000)}" }`;
      const text = `{"data":"${Buffer.from(json).toString("base64")}"}`;
      const { start } = JSON.parse(inside.body(Buffer.from(text), { isJson: true }));
      const shown = Buffer.from(start.replace('{"data":"', ""), "base64").toString();
      expect(shown).toMatch(/^\{ "password": "\[masked\]", "rest": "x+/);
    });
  });

  it.each([
    ["https://user:pw@h/?access_token=S&a=1", "https://user:[masked]@h/?access_token=[masked]&a=1"],
    ["a=b&password=S", "a=b&password=[masked]"],
    ["a=b&password=S\nnext", "a=b&password=[masked]\nnext"],
    ["login failed, password: S", "login failed, password: [masked]"],
    ["[info] token=S", "[info] token=[masked]"],
    ["{x} token=S", "{x} token=[masked]"],
    ["Cookie: a=b; c=S", "Cookie: [masked]"],
    ['say \\"token\\": \\"S\\"', 'say \\"token\\": \\"[masked]\\"'],
    ['{"url":"https://h/?sig=S","n":1}', '{"url":"https://h/?sig=[masked]","n":1}'],
  ])("a string's pairs are masked as in a text: %s", (text, masked) => {
    expect(mask.json({ n: 1, data: { text } })).toEqual({ n: 1, data: { text: masked } });
    expect(mask.json(masked)).toEqual(masked);
  });

  it.each([
    "sources.github: secret: got a sequence, expected the secret that the platform shows",
    "STRIPE_SECRET: got a placeholder, expected the secret that the platform has issued",
    "ONCEHOOK_SIGNING_SECRET: is not set",
  ])("a message about a secret keeps the words that follow its name: %s", (text) => {
    expect(mask.text(text)).toBe(text);
    expect(mask.text(`${text}; secret: gotten, password=is1`)).toBe(`${text}; secret: [masked], password=[masked]`);
  });

  it.each(["2026-01-01T00:00:00Z", "https://shop.example/orders/7?page=2", "c2lnUGlu==", "a = b: c", "=:=", "x"])(
    "a string without a secret stays as it is: %s",
    (text) => {
      expect(mask.json({ text, list: [text] })).toEqual({ text, list: [text] });
    },
  );

  it("masking shows what nests 1,000 levels deep, masked at the bottom, and hides what cannot be written at all", () => {
    const deep = (levels: number) => `${"[".repeat(levels)}{"token":"t"}${"]".repeat(levels)}`;
    expect(JSON.stringify(mask.json(JSON.parse(deep(1_000))))).toBe(deep(1_000).replace('"t"', '"[masked]"'));
    expect(mask.json(JSON.parse(deep(100_000)))).toBe("[masked]");
  });

  it("masking knows sensitive keys after thousands of others, and at any length", () => {
    const keys = Array.from({ length: 2_000 }, (_, index) => [`key${index}`, index]);
    const long = `${"x".repeat(500)}Token`;
    const others: Record<string, number> = Object.fromEntries(keys);
    expect(mask.json({ ...others, token: "t", [long]: "t", id: 1 })).toEqual({
      ...others,
      token: "[masked]",
      [long]: "[masked]",
      id: 1,
    });
  });

  it("masking hides the keys an operator adds, in any spelling", () => {
    const custom = createMask({ keys: ["tax_number"] });
    expect(custom.json({ taxNumber: 1, "TAX-NUMBER": 2, tax: 3 })).toEqual({
      taxNumber: "[masked]",
      "TAX-NUMBER": "[masked]",
      tax: 3,
    });
  });
});

describe("masked bodies", () => {
  it("an empty body is masked as an empty text", () => {
    expect(body("")).toBe("");
  });

  it("masking shows JSON as it came, blanks and all, with its secrets masked", () => {
    expect(body('{ "event_id":\t"e1",\n "data": {"code" : "c", "sum": 1.50} }\n')).toBe(
      '{ "event_id":\t"e1",\n "data": {"code" : "[masked]", "sum": 1.50} }\n',
    );
  });

  it("masking hides the value of a key that is spelled with escapes", () => {
    expect(body('{"c\\u006fde":"c","a":"\\u0034111111111111111"}')).toBe('{"c\\u006fde":"[masked]","a":"[masked]"}');
  });

  it("the state of a thing in JSON is shown where it is in words, and masked where it may be a secret", () => {
    for (const shown of ['"open"', '"IN_PROGRESS"', '"ready for review"', '"CA"', "null", "true", "3"])
      expect(body(`{"state":${shown},"id":1}`)).toBe(`{"state":${shown},"id":1}`);
    for (const hidden of [
      '"xyzABCdef"',
      '"af0ifjsldkj"',
      `"${"a".repeat(21)}"`,
      '"op\\u0065n"',
      "12345678",
      '["open"]',
      '{"a":"b"}',
    ])
      expect(body(`{"state": ${hidden},"id":1}`)).toBe('{"state": "[masked]","id":1}');
    expect(body("state=open&name=Ada+L")).toBe("state=[masked]&name=Ada+L");
    expect(createMask({ keys: ["state"] }).body(Buffer.from('{"state":"open"}'))).toBe('{"state":"[masked]"}');
  });

  it("masking shows a form with its secrets masked", () => {
    expect(body("code=abc&state=&data[token]=t&name=Ada+L")).toBe(
      "code=[masked]&state=[masked]&data[token]=[masked]&name=Ada+L",
    );
  });

  it("masking hides JSON with secrets that stands in a form", () => {
    expect(body(`payload=${encodeURIComponent('{"access_token":"t"}')}&a=1`)).toBe("payload=[masked]&a=1");
  });

  it.each([
    ["a JSON string", '"hunter2"'],
    ["base64 that ends like a form", "aHVudGVyMg=="],
    ["a token", "hunter2.hunter2.hunter2"],
  ])("a masked body shows only length and fingerprint of %s, which may be a secret itself", (_, text) => {
    expect(body(text)).toBe(unparsed(text));
  });

  it.each([
    ["plain text", "Hello,\nthe password is hunter2", "Hello,\nthe password is [masked]"],
    ["broken JSON", '{"id":1,"code":"hunter2"', '{"id":1,"code":"[masked]"'],
    ["a byte order mark before JSON", '\uFEFF{"a": 1, "pin": 1234}', '\uFEFF{"a": 1, "pin": "[masked]"}'],
    ["XML", '<pay token="hunter2"><id>7</id></pay>', '<pay token="[masked]"><id>7</id></pay>'],
    ["a text in UTF-16", [..."token: hunter2"].join("\0"), "token: [masked]"],
  ])("a masked body shows %s in a note, masked", (_, text, shown) => {
    expect(JSON.parse(body(text))).toEqual({ ...JSON.parse(unparsed(text)), text: shown });
  });

  it("masking shows what can be read of bytes that are not UTF-8, masked", () => {
    const bytes = Buffer.concat([
      Buffer.from('{"name":"J\u00fcrgen","pin":"1234"} ', "latin1"),
      Uint8Array.of(0, 1, 0x90),
    ]);
    expect(JSON.parse(mask.body(bytes))).toEqual({
      unparsed: true,
      bytes: bytes.length,
      sha256: sha256(bytes),
      start: '{"name":"J\u00fcrgen","pin":"[masked]"} \\x01\\x90',
    });
  });

  it("masking reads a view into a larger buffer as the view", () => {
    expect(mask.body(new Uint8Array(Buffer.from('xx{"a":1}yy')).subarray(2, 9))).toBe('{"a":1}');
  });

  it.each([
    ["that is not known to be JSON", 16_384, {}],
    ["of JSON that was parsed", 65_536, { isJson: true }],
  ])("a body %s is shown whole up to %i bytes, a longer one by its start", (_, most, options) => {
    const text = (length: number) => `{"token":"hunter22","note":"${"ü".repeat((length - 30) / 2)}"}`;
    expect(mask.body(Buffer.from(text(most)), options)).toBe(text(most).replace("hunter22", "[masked]"));
    const longer = text(most + 2);
    expect(JSON.parse(mask.body(Buffer.from(longer), options))).toEqual({
      truncated: true,
      bytes: most + 2,
      sha256: sha256(longer),
      start: `{"token":"[masked]","note":"${"ü".repeat(2_048 - 28)}`,
    });
  });

  it("masking shows the beginning of one that would take too much work, with its length and fingerprint", () => {
    const text = `[${Array(10_000).fill('{"a":1}').join(",")}]`.slice(0, 60_000);
    const shown = JSON.parse(mask.body(Buffer.from(text), { isJson: true }));
    expect(shown).toEqual({
      truncated: true,
      bytes: 60_000,
      sha256: sha256(text),
      start: text.slice(0, 2_048),
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

  it("a text of over 2,048 characters is cut, and says how long it was", () => {
    const url = `/cb?code=abc&x=${"y".repeat(5_000)}`;
    expect(mask.url(url)).toBe(`/cb?code=[masked]&x=${"y".repeat(2_028)}… (5015 characters)`);
  });
});

describe("masked headers", () => {
  it("masking shows ordinary headers, repeated ones joined and absent ones left out", () => {
    const shown = mask.headers({ host: "h", "x-many": ["a", "b"], "x-none": undefined });
    expect(shown).toEqual({ host: "h", "x-many": "a, b" });
  });

  it("masking bounds a value to 1 KiB", () => {
    expect(mask.headers({ "user-agent": "x".repeat(5_000) })["user-agent"]).toHaveLength(1_024);
  });

  it("masking shows 8 KiB of them in all, and says how many were left out", () => {
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`x-${index}`, "y".repeat(1_000)]));
    const shown = mask.headers(many);
    expect(JSON.stringify(shown).length).toBeLessThan(8_400);
    expect(shown["(left out)"]).toBe("12 more");
  });

  it("masking masks a code inside an ordinary header", () => {
    expect(mask.headers({ referer: "https://h/?code=abc" })).toEqual({ referer: "https://h/?code=[masked]" });
  });

  it("masking hides the headers an operator adds, in any case", () => {
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
    ["    at run (file:///app/src/receive/receive.ts:12:34)", "    at run (file:///app/src/receive/receive.ts:12:34)"],
  ])("%s is shown as %s", (text, shown) => {
    expect(mask.text(text)).toBe(shown);
  });

  it("a masked text is cut to 16,384 characters, however long it was before", () => {
    expect(mask.text(`token=abc ${"4".repeat(8_000_000)}`)).toBe(`token=[masked] ${"4".repeat(16_384 - 15)}`);
  });

  it("masking shows no part of a card number at the cut of what is read, however much of the text before it was masked", () => {
    const pair = `token=${"x".repeat(100)} `;
    // 16,384 characters are shown, and 2,048 more are read.
    for (let shown = 1; shown < 19; shown += 1) {
      const before = pair.repeat(200).slice(0, 18_432 - shown - 1);
      expect(mask.text(`${before} 4111 1111 1111 1111 ${"y ".repeat(3_000)}`)).not.toMatch(/4/);
    }
  });
});
