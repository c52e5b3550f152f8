import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileLocation, compileText, readKept, type TextPlace } from "../../../src/sources/contract/locate.ts";
import type { Readable } from "../../../src/sources/contract/reading.ts";

const reading = (body: unknown, more: Partial<Readable> = {}): Readable => ({
  body: body as never,
  header: () => undefined,
  query: () => undefined,
  sha256: () => "00ff",
  bodySha256: () => "of the body",
  url: () => "https://hooks.example.com/api/source/callback",
  delivery: () => "of the delivery",
  ...more,
});
const textAt = (place: TextPlace | readonly TextPlace[], from: Readable) => readKept(compileText(place), from);

describe("a location", () => {
  it.each([
    ["body.id", { id: "evt_1" }, "evt_1"],
    ["body.a.b[1].c", { a: { b: [0, { c: "deep" }] } }, "deep"],
    ["body[0].id", [{ id: "first" }], "first"],
    ["body.event-data.id", { "event-data": { id: "dashed" } }, "dashed"],
    ['body["data[id]"]', { "data[id]": "a field whose name has brackets" }, "a field whose name has brackets"],
    ['body.a["b.c"][0]', { a: { "b.c": ["x"] } }, "x"],
    ["body.update_id", { update_id: 9007199254740991 }, "9007199254740991"],
    ["sha256", {}, "00ff"],
    ["=constant.text", {}, "constant.text"],
    ["{body.a}.{body.b}", { a: "x", b: 2 }, "x.2"],
    ["v1-{body.a}", { a: "x" }, "v1-x"],
  ])("%s reads the text that stands there", (place, body, text) => {
    expect(textAt(place, reading(body))).toEqual({ text });
  });

  it("header.X-Name reads a header in any case", () => {
    const from = reading({}, { header: (name) => (name === "x-name" ? "value" : undefined) });
    expect(textAt("header.X-Name", from)).toEqual({ text: "value" });
  });

  it("query.hub.mode reads the parameter `hub.mode`", () => {
    const from = reading({}, { query: (name) => (name === "hub.mode" ? "subscribe" : undefined) });
    expect(textAt("query.hub.mode", from)).toEqual({ text: "subscribe" });
  });

  it("the first of several places that is there counts", () => {
    expect(textAt(["body.a", "body.b", "sha256"], reading({ a: "", b: "two" }))).toEqual({ text: "two" });
  });

  it("a value of another kind at the first place is no reason to read the next", () => {
    expect(textAt(["body.a", "sha256"], reading({ a: { b: 1 } }))).toEqual({
      fault: "expected a text or an integer",
    });
  });

  it("a function reads what no location can name", () => {
    const first = ({ body }: Readable) => Object.keys(body as object).find((key) => key !== "update_id");
    expect(textAt(first, reading({ update_id: 1, message: {} }))).toEqual({ text: "message" });
  });

  it.each([1.5, true, {}, [], Number.MAX_SAFE_INTEGER + 1])("%j is no text of an id", (id) => {
    expect(textAt("body.id", reading({ id }))).toHaveProperty("fault");
  });

  it.each([["a\u0000b"], ["\ud800"], ["é".repeat(128)]])(
    "a text that the databases do not keep as it is is no id: %j",
    (id) => {
      expect(textAt("body.id", reading({ id }))).toHaveProperty("fault");
    },
  );

  it("a template needs all of its parts", () => {
    expect(textAt("{body.a}.{body.b}", reading({ a: "x" }))).toHaveProperty("fault");
  });

  it.each([
    "",
    "id",
    "body id",
    "body..id",
    "body.a[b]",
    "header",
    "header.",
    "sha256.x",
    "{body.id",
    "body.a}{body.b",
    "{}",
  ])("a text that names no place stops the start: %j", (place) => {
    expect(() => compileText(place)).toThrow(TypeError);
  });

  it("a location is signed where all of its parts lie in the signed bytes", () => {
    const signed = ["body.id", "item.id", "sha256", "{body.a}-{body.b}"].map((place) => compileText(place).isSigned);
    const others = ["header.X-Id", "query.id", "{body.a}-{header.X-Id}"].map((place) => compileText(place).isSigned);
    expect([...signed, ...others]).toEqual([true, true, true, true, false, false, false]);
  });

  it("a location never reads a prototype", () => {
    const inherited = fc.constantFrom(
      ...Object.getOwnPropertyNames(Object.prototype),
      ...Object.getOwnPropertyNames(Array.prototype),
      ...Object.getOwnPropertyNames(String.prototype),
    );
    fc.assert(
      fc.property(fc.array(inherited, { minLength: 1, maxLength: 3 }), fc.jsonValue(), (keys, value) => {
        const path = keys.join(".");
        const body = JSON.parse(JSON.stringify({ holder: value, list: [], text: "" }));
        for (const root of ["body", "body.list", "body.text"]) {
          expect(compileLocation(`${root}.${path}`).read(reading(body))).toBeUndefined();
        }
      }),
    );
  });

  it("a location reads any own property of any JSON", () => {
    const name = fc.stringMatching(/^[A-Za-z_-]{1,8}$/);
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 5 }), fc.jsonValue(), (names, value) => {
        const body = names.reduceRight<unknown>((inner, key) => Object.fromEntries([[key, inner]]), value);
        expect(compileLocation(`body.${names.join(".")}`).read(reading(body))).toBe(value);
      }),
    );
  });
});
