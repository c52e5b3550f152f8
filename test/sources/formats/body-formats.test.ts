import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type BodyData, createBodyDecoder } from "../../../src/sources/formats/body-formats.ts";
import { requestOf } from "../../support/contract.ts";

const decodeRequest = (data: BodyData, body: string | Uint8Array, { headers = {}, target = "/a" } = {}) =>
  createBodyDecoder(data)(requestOf(body, { headers, target }));
/** Without whether the body is JSON. */
const decode = (data: BodyData, body: string | Uint8Array, headers: Record<string, string> = {}) => {
  const decoded = decodeRequest(data, body, { headers });
  return "value" in decoded ? { value: decoded.value } : decoded;
};
const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const jws = (payload: unknown) => `${base64url({ alg: "ES256" })}.${base64url(payload)}.c2ln`;
const multipart = { "Content-Type": 'multipart/form-data; boundary="----x y"' };
const part = (name: string, value: string) =>
  `------x y\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const END = "------x y--\r\n";
/** More digits than a JavaScript number holds. */
const LONG = "12345678901234567890";

describe("a form", () => {
  it("a form becomes an object of texts", () => {
    expect(decode({ body: "form" }, "From=%2B491&Body=a+b%26c&empty=&flag")).toEqual({
      value: { From: "+491", Body: "a b&c", empty: "", flag: "" },
    });
  });

  it("a form keeps a repeated field as an array in the order of the body", () => {
    expect(decode({ body: "form" }, "a=1&b=2&a=3&a=1")).toEqual({ value: { a: ["1", "3", "1"], b: "2" } });
  });

  it.each([
    ["body_not_utf8", "a=%ff"],
    ["body_not_utf8", "a=%ed%a0%80"],
    ["body_malformed", "a=%2"],
    ["body_malformed", "%zz=1"],
    ["body_forbidden_key", "__proto__=1"],
    ["body_malformed", "a=1&".repeat(1_001)],
  ])("a form is refused with %s rather than read loosely: %.20s", (code, body) => {
    expect(decode({ body: "form" }, body)).toMatchObject({ code });
  });

  it("a form is read as URLSearchParams reads it, wherever that is exact", () => {
    const texts = fc.array(fc.tuple(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" })), {
      maxLength: 20,
    });
    fc.assert(
      fc.property(texts, (pairs) => {
        const known = pairs.filter(([name]) => name !== "__proto__");
        const expected: Record<string, string[]> = {};
        for (const [name, value] of known) {
          expected[name] = Object.hasOwn(expected, name) ? [...expected[name]!, value] : [value];
        }
        const found = decode({ body: "form" }, new URLSearchParams(known).toString()) as { value: object };
        const lists = Object.entries(found.value).map(([name, value]) => [name, [value].flat()]);
        expect(Object.fromEntries(lists)).toEqual(expected);
      }),
    );
  });

  it("a form of any bytes is decoded as decodeURIComponent decodes it, and refused where that throws", () => {
    const parts = fc.oneof(
      fc.constantFrom("%", "%4", "%4g", "%zz", "+", "%2B", "%41", "%c3%A9", "é", "%00", "%25", "a"),
      fc.string({ unit: "binary-ascii" }).map((text) => text.replaceAll(/[&=]/g, "")),
      fc.nat(255).map((byte) => `%${byte.toString(16).padStart(2, "0")}`),
    );
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 8 }), (texts) => {
        const value = texts.join("");
        let expected: string | undefined;
        try {
          expected = decodeURIComponent(value.replaceAll("+", " "));
        } catch {}
        const found = decode({ body: "form" }, `a=${value}`);
        if (expected === undefined) expect(found).toMatchObject({ kind: "refused" });
        else expect(found).toEqual({ value: { a: expected } });
      }),
      { numRuns: 1_000 },
    );
  });

  it("a form of escapes costs about what a form of letters of the same length costs", () => {
    const fastest = (form: string) => {
      const times = Array.from({ length: 9 }, () => {
        const start = performance.now();
        decode({ body: "form" }, form);
        return performance.now() - start;
      });
      return Math.min(...times);
    };
    expect(fastest(`a=${"%41".repeat(100_000)}`)).toBeLessThan(10 * fastest(`a=${"x".repeat(300_000)}`));
  });

  it("a form holds JSON in a field where the platform sends it so", () => {
    const body = `payload=${encodeURIComponent('{"n":12345678901234567890}')}`;
    expect(decode({ body: { form: "payload" } }, body)).toEqual({ value: { n: "12345678901234567890" } });
  });

  it("a form without the field of its JSON is refused, and the message names the field", () => {
    expect(decode({ body: { form: "payload" } }, "other=1")).toMatchObject({
      code: "body_malformed",
      message: "form: expected one field `payload`",
    });
  });
});

describe("a multipart form", () => {
  it("a multipart form becomes an object of its text fields", () => {
    const body = part("json", '{"a":1}') + part("b", "two\r\nlines") + END;
    expect(decode({ body: "multipart" }, body, multipart)).toEqual({
      value: { json: '{"a":1}', b: "two\r\nlines" },
    });
    expect(decode({ body: { multipart: "json" } }, body, multipart)).toEqual({ value: { a: 1 } });
  });

  it("a file of a multipart form is its name and its bytes in base64", () => {
    const head = 'Content-Disposition: form-data; name="attachment-1"; filename="a b.pdf"';
    const file = `------x y\r\n${head}\r\nContent-Type: application/pdf\r\n\r\n\x00\r\n`;
    expect(decode({ body: "multipart" }, part("b", "1") + file + END, multipart)).toEqual({
      value: { b: "1", "attachment-1": { filename: "a b.pdf", base64: "AA==" } },
    });
  });

  it.each([
    ["no end", part("a", "1"), ""],
    ["no name", "------x y\r\nContent-Disposition: form-data\r\n\r\n1\r\n", END],
    ["no headers", "------x y\r\nvalue\r\n", END],
    [
      "an encoding",
      '------x y\r\nContent-Disposition: form-data; name="f"\r\nContent-Transfer-Encoding: base64\r\n\r\n1\r\n',
      END,
    ],
    ["too many parts", part("a", "1").repeat(1_001), END],
    ["no boundary at all", "", ""],
    ["a text before its first boundary", `note\r\n${part("a", "1")}`, END],
    ["a line break before its first boundary", `\r\n${part("a", "1")}`, END],
  ])("a multipart form with %s is refused", (_, parts, end) => {
    expect(decode({ body: "multipart" }, parts + end, multipart)).toMatchObject({ code: "body_malformed" });
  });

  it("a multipart form without a boundary in its header is refused", () => {
    expect(decode({ body: "multipart" }, END, { "Content-Type": "multipart/form-data" })).toMatchObject({
      code: "body_malformed",
    });
  });

  it("a multipart form is read as the web platform's own parser reads it", async () => {
    const text = fc.string({ unit: "grapheme" }).filter((value) => !/[\r\n]/.test(value));
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 5 }), async (values) => {
        const form = new FormData();
        for (const [index, value] of values.entries()) form.append(`field${index}`, value);
        const response = new Response(form);
        const headers = { "Content-Type": response.headers.get("content-type") as string };
        const found = decode({ body: "multipart" }, new Uint8Array(await response.arrayBuffer()), headers);
        expect(found).toEqual({
          value: Object.fromEntries(values.map((value, index) => [`field${index}`, value.toWellFormed()])),
        });
      }),
    );
  });
});

describe("a text inside JSON", () => {
  const inner = { a: [1] };

  it.each([
    ["json", JSON.stringify(inner)],
    ["base64-json", Buffer.from(JSON.stringify(inner)).toString("base64")],
    ["base64-json", Buffer.from(JSON.stringify(inner)).toString("base64url")],
    ["jws", jws(inner)],
  ] as const)("a text inside JSON as %s gives its place to what it holds", (as, text) => {
    const data: BodyData = { decode: [{ at: "body.message.data", as }] };
    expect(decode(data, JSON.stringify({ message: { data: text, id: 1 } }))).toEqual({
      value: { message: { data: inner, id: 1 } },
    });
  });

  it("a text inside JSON as base64-text gives its place to the text, in lines too", () => {
    const data: BodyData = { body: "form", decode: [{ at: "body.a", as: "base64-text" }] };
    expect(decode(data, "a=PGE%2B%0A&b=1")).toEqual({ value: { a: "<a>", b: "1" } });
    expect(decode(data, "a=PG%0AE%2B%0D%0A")).toEqual({ value: { a: "<a>" } });
    for (const other of ["%2Fw%3D%3D", "<a>", ""])
      expect(decode(data, `a=${other}`)).toEqual({ value: { a: decodeURIComponent(other) } });
  });

  it("a text inside JSON stays a text where it holds something else", () => {
    const data: BodyData = {
      decode: [
        { at: "body.a", as: "json" },
        { at: "body.b", as: "base64-json" },
        { at: "body.c", as: "jws" },
        { at: "body.d.e", as: "json" },
      ],
    };
    const body = { a: "hello", b: "/w==", c: "x.y", d: null };
    expect(decode(data, JSON.stringify(body))).toEqual({ value: body });
  });

  it("a text inside JSON that nests too deep with what holds it is refused", () => {
    const data: BodyData = { decode: [{ at: "body.a", as: "json" }] };
    const deep = (levels: number) => JSON.stringify({ a: "[".repeat(levels) + "]".repeat(levels) });
    expect(decode(data, deep(61))).toHaveProperty("value");
    expect(decode(data, deep(62))).toMatchObject({ code: "body_too_deep" });
  });

  it("a text inside JSON with a forbidden key is refused", () => {
    const data: BodyData = { decode: [{ at: "body.a", as: "json" }] };
    expect(decode(data, JSON.stringify({ a: '{"__proto__":1}' }))).toMatchObject({
      code: "body_forbidden_key",
    });
  });
});

describe("a body", () => {
  it.each([
    ["json", '{"a":"1"}', {}],
    ["form", "a=1", {}],
    ["json-or-form", "a=1", {}],
    ["json-or-form", '{"a":"1"}', {}],
    ["multipart", part("a", "1") + END, multipart],
  ] as const)("a body as %s is read after its byte order mark", (body, text, headers) => {
    expect(decode({ body }, `\u{feff}${text}`, headers)).toEqual({ value: { a: "1" } });
  });

  it.each([
    [{ multipart: "json" }, part("json", `\u{feff}{"a":${LONG}}`) + END, multipart],
    [{ form: "json" }, `json=${encodeURIComponent(`\u{feff}{"a":${LONG}}`)}`, {}],
  ] as const)("a field of JSON (%j) is read after its byte order mark", (body, text, headers) => {
    expect(decode({ body }, text, headers)).toEqual({ value: { a: LONG } });
  });

  it("a body that is JSON or a form with a field of JSON is read by its first byte", () => {
    const data: BodyData = { body: { form: "payload", orJson: true } };
    expect(decode(data, '{"a":1}')).toEqual({ value: { a: 1 } });
    expect(decode(data, "payload=%7B%22a%22%3A1%7D")).toEqual({ value: { a: 1 } });
  });

  it.each([
    ["json", '{"a":1}', true],
    ["json-or-form", '{"a":1}', true],
    ["json-or-form", "a=1", false],
    [{ form: "payload" }, "payload=%7B%7D", false],
  ] as const)("a body as %j says of itself that it is JSON: %s, %s", (body, text, isJson) => {
    expect(decodeRequest({ body }, text)).toMatchObject({ isJson });
  });

  it("an empty body is its query where the contract says so", () => {
    const data: BodyData = { body: "json", emptyBody: "query" };
    const read = (body: string) => decodeRequest(data, body, { target: "/a?x=1&y=%20" });
    expect(read("")).toMatchObject({ value: { x: "1", y: " " } });
    expect(read('{"a":1}')).toMatchObject({ value: { a: 1 } });
  });

  it("a body that is a compact JWS becomes its payload", () => {
    expect(decode({ body: "jws" }, jws({ data: "x" }))).toEqual({ value: { data: "x" } });
  });

  it.each(["", "a.b", "a.b.c.d", "a.=.c", `${jws({})}\n`, "a.e30=.c"])("%j is no compact JWS", (body) => {
    expect(decode({ body: "jws" }, body)).toMatchObject({ code: "body_malformed" });
  });

  it("a body of text stands under `text`", () => {
    expect(decode({ body: "text" }, "Ünicode")).toEqual({ value: { text: "Ünicode" } });
    expect(decode({ body: "text" }, Buffer.from([0xff]))).toMatchObject({ code: "body_not_utf8" });
  });

  it("a body that is not read may hold anything", () => {
    expect(decode({ body: "none" }, Buffer.from([0xff]))).toEqual({ value: {} });
  });

  it("a body is read by its media type where the platform sends several", () => {
    const data: BodyData = {
      body: { byContentType: { "application/x-www-form-urlencoded": { form: "payload" }, "*": "json" } },
    };
    const form = { "Content-Type": "Application/x-www-form-urlencoded; charset=utf-8" };
    expect(decode(data, "payload=%7B%22a%22%3A1%7D", form)).toEqual({ value: { a: 1 } });
    expect(decode(data, '{"a":1}', { "Content-Type": "application/json" })).toEqual({ value: { a: 1 } });
    expect(decode(data, '{"a":1}')).toEqual({ value: { a: 1 } });
  });
});

describe("a compressed body", () => {
  const gzip = { "Content-Encoding": "gzip" };

  it("a compressed body is inflated where the platform compresses", () => {
    expect(decode({ gzip: true }, gzipSync('{"a":1}'), gzip)).toEqual({ value: { a: 1 } });
    expect(decode({ gzip: true }, '{"a":1}')).toEqual({ value: { a: 1 } });
  });

  it("a compressed body is not inflated for any other platform", () => {
    expect(decode({}, gzipSync('{"a":1}'), gzip)).toMatchObject({ code: "body_not_utf8" });
  });

  it("a compressed body that inflates to too much is refused without doing so", () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    expect(decode({ gzip: true }, bomb, gzip)).toMatchObject({
      code: "body_malformed",
      message: expect.stringContaining("more than"),
    });
  });

  it("a compressed body that is cut or no gzip is refused", () => {
    const cut = gzipSync('{"a":1}').subarray(0, 20);
    for (const body of [cut, Buffer.from("{}")]) {
      expect(decode({ gzip: true }, body, gzip)).toMatchObject({ code: "body_malformed" });
    }
  });
});

it("hostile bytes never make a decoder throw", { tags: "full" }, () => {
  const formats: BodyData[] = [
    { body: "json", decode: [{ at: "body.a", as: "base64-json" }] },
    { body: "form" },
    { body: "multipart" },
    { body: "jws" },
    { body: "text" },
    { body: { form: "a" } },
    { body: { multipart: "a" } },
    { gzip: true },
  ];
  const hostile = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.json().map((text) => Buffer.from(text)),
    fc.webQueryParameters().map((text) => Buffer.from(text)),
    fc
      .stringMatching(/^(------x y|\r\n|--|name="a"|Content-Disposition: form-data; |:|a){0,12}$/)
      .map((text) => Buffer.from(text)),
  );
  fc.assert(
    fc.property(hostile, fc.constantFrom({}, multipart, { "Content-Encoding": "gzip" }), (body, headers) => {
      for (const data of formats) {
        const found = decode(data, body, headers);
        expect("value" in found || found.kind === "refused").toBe(true);
      }
    }),
  );
});
