import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isExactNumber } from "../../../src/domain/index.ts";
import { scanJson } from "../../../src/sources/formats/json-numbers.ts";
import { parseEvent, parseJsonBody } from "../../../src/sources/formats/parse-body.ts";

const bytes = (text: string) => Buffer.from(text);

describe("the nesting bound", () => {
  it("the nesting bound agrees with a count over the parsed value, whatever stands in strings", () => {
    const depth = (value: unknown): number =>
      typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0;
    fc.assert(
      fc.property(fc.json({ maxDepth: 8, stringUnit: fc.constantFrom("[", "{", "}", '"', "\\", "a") }), (text) => {
        const actual = depth(JSON.parse(text));
        expect(scanJson(bytes(text), actual)).not.toBe("too deep");
        if (actual > 0) expect(scanJson(bytes(text), actual - 1)).toBe("too deep");
      }),
    );
  });
});

describe("a number of a body", () => {
  /** The same number, whichever way it is written: compared as a fraction of two whole numbers. */
  const fraction = (text: string): [bigint, bigint] => {
    const [, sign, whole, digits = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
    const shift = BigInt(exponent) - BigInt(digits.length);
    const value = BigInt(`${sign}${whole}${digits}`);
    return shift < 0n ? [value, 10n ** -shift] : [value * 10n ** shift, 1n];
  };
  const isSame = (left: string, right: string) => {
    const [[a, b], [c, d]] = [fraction(left), fraction(right)];
    return a * d === c * b;
  };
  const number = fc
    .tuple(
      fc.constantFrom("", "-"),
      fc.oneof(fc.bigInt(0n, 10n ** 20n).map(String), fc.nat(9).map(String)),
      fc.oneof(fc.constant(""), fc.stringMatching(/^\.\d{1,20}$/)),
      fc.oneof(
        fc.constant(""),
        fc.integer({ min: -30, max: 30 }).map((n) => `e${n}`),
      ),
    )
    .map((parts) => parts.join(""));

  it("a number is exact only where the JavaScript number denotes the same value", () => {
    fc.assert(
      fc.property(number, (text) => {
        expect(isExactNumber(text)).toBe(isSame(text, String(Number(text))));
      }),
    );
  });

  it("a number is passed on with all its digits or as the same number, wherever it stands", () => {
    fc.assert(
      fc.property(fc.array(number, { maxLength: 8 }), fc.string(), (numbers, text) => {
        const list = numbers.join(" ,\n");
        const json = `{"event_id":"e","text":${JSON.stringify(text)},"list" : [${list}],"n":{"é":${numbers[0] ?? 1}}}`;
        const found = parseEvent(bytes(json)) as { object: { text: string; list: unknown[] } };
        expect(found.object.text).toBe(text);
        for (const [index, value] of found.object.list.entries()) {
          if (typeof value === "string") expect(value).toBe(numbers[index]);
          else expect(isSame(numbers[index]!, String(value))).toBe(true);
        }
      }),
    );
  });

  it.each([
    "{12345678901234567890:1}",
    '{"a":12345678901234567890.}',
    '{"a":--12345678901234567890}',
    '{"a":012345678901234567890}',
  ])("a number of a body makes no body valid that is not: %s", (text) => {
    expect(parseEvent(bytes(text))).toMatchObject({ code: "body_not_json" });
  });

  it.each(["event_id", "event_type"])("a number as %s stays a number, however many digits it has", (name) => {
    const found = parseEvent(
      bytes(`{"event_id":"e","${name}":-0.0045311388005381405,"data":{"n":12345678901234567890}}`),
    );
    expect(found).toMatchObject({
      object: { [name]: expect.any(Number), data: { n: "12345678901234567890" } },
    });
  });
});

describe("JSON of any kind", () => {
  it("an array at the top is parsed like an object", () => {
    expect(parseJsonBody(bytes('[{"id":1},"two"]'))).toEqual({ value: [{ id: 1 }, "two"] });
  });

  it("a byte order mark is skipped, and the numbers after it keep their digits", () => {
    const marked = bytes("\u{feff}[12345678901234567890]");
    expect(parseJsonBody(marked, { keepsDigits: true })).toEqual({ value: ["12345678901234567890"] });
  });

  it("a long number in an array keeps its digits where that is asked for", () => {
    expect(parseJsonBody(bytes("[12345678901234567890]"), { keepsDigits: true })).toEqual({
      value: ["12345678901234567890"],
    });
  });

  it.each([
    ["body_not_utf8", Buffer.from([0x5b, 0xff, 0x5d])],
    ["body_not_json", bytes("[1,]")],
    ["body_forbidden_key", bytes('[{"__proto__":1}]')],
    ["body_too_deep", bytes("[".repeat(65) + "]".repeat(65))],
  ])("an array is refused with %s as an object is", (code, body) => {
    expect(parseJsonBody(body)).toMatchObject({ code });
  });
});
