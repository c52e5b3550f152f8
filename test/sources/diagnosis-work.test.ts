import { describe, expect, it } from "vitest";
import { diagnoseSignature } from "../../src/sources/diagnose/diagnose-signature.ts";
import { bodyTextOf } from "../../src/sources/diagnose/json-text.ts";
import { serializationsOf } from "../../src/sources/diagnose/serializations.ts";
import { WorkBudget } from "../../src/sources/diagnose/work-budget.ts";
import { CURRENT, mac, TEST, URL_CALLED } from "./refused-cases.ts";

const NAMED = [{ name: "test", secret: TEST }];
const FORGED = { "x-signature": ["0".repeat(64)] };
const MOST_UNITS = 4 * 1_024 * 1_024;
const STEP_UNITS = 16_384;
const UNITS_OF_VALUE = 16;

/** Arrays in arrays, with what each line of them would be indented by. */
function nested(bytes: number, depth: number, item: string): string {
  const count = Math.floor((bytes - 4 * depth) / (item.length + 1));
  const items = Array.from({ length: count }, () => item).join(",");
  return `${"[1,".repeat(depth)}[${items}]${"]".repeat(depth)}`;
}

const COSTLY: readonly (readonly [string, string])[] = [
  ...[8_000, 13_000, 65_500].flatMap((bytes) =>
    [20, 62].map((depth) => [`${bytes} bytes of numbers ${depth} deep`, nested(bytes, depth, "1")] as const),
  ),
  ["empty objects 62 deep", nested(65_500, 62, "{}")],
  ["one string beyond ASCII", JSON.stringify({ a: "é".repeat(32_700) })],
  ["one string of what .NET escapes", JSON.stringify({ a: "+".repeat(65_400) })],
  ["many strings that are all different", JSON.stringify(Array.from({ length: 7_000 }, (_, n) => `/${n}`))],
  ["many numbers that are all different", JSON.stringify(Array.from({ length: 9_000 }, (_, n) => n + 0.5))],
  ["many keys", JSON.stringify(Object.fromEntries(Array.from({ length: 6_000 }, (_, n) => [`k${n}`, 1])))],
];

describe("the work of a diagnosis", () => {
  it.each(COSTLY)("is bounded, as a whole and between two pauses, for %s", (_title, text) => {
    const effort = new WorkBudget();
    const body = Buffer.from(text);
    const suspect = { headers: FORGED, body, method: "POST", url: URL_CALLED };
    const steps = diagnoseSignature(suspect, { accepted: [CURRENT], named: NAMED }, effort);
    let longest = 0;
    for (let before = 0; steps.next().done !== true; before = effort.spent)
      longest = Math.max(longest, effort.spent - before);
    // A step hashes one guess, or it reads, spells or writes as much as may be done without a pause.
    expect(longest).toBeLessThanOrEqual(2 * STEP_UNITS + 2 * body.length + 4_096);
    expect(effort.spent).toBeLessThanOrEqual(MOST_UNITS + 2 * STEP_UNITS + 2 * body.length + 4_096);
  });

  it.each(COSTLY)(
    "pays for every value and character that is written of %s, and writes none too long",
    (_title, text) => {
      const effort = new WorkBudget();
      const read = atOnce(bodyTextOf(Buffer.from(text), effort).read());
      if (typeof read === "string") throw new Error("this is no JSON");
      const limit = 2 * text.length + 4_096;
      const before = effort.spent;
      const writings = [...serializationsOf(read, effort, limit)].filter((writing) => writing !== undefined);
      const written = new Set(writings.map(({ text }) => text.trimEnd()));
      const characters = [...written].reduce((sum, { length }) => sum + length, 0);
      expect(characters).toBeGreaterThan(0);
      const values = written.size * text.split(",").length;
      expect(effort.spent - before).toBeGreaterThanOrEqual(characters + UNITS_OF_VALUE * values);
      for (const { length } of written) expect(length).toBeLessThanOrEqual(limit);
    },
  );

  it("ends at the first guess that it cannot pay for, however many guesses are left", () => {
    const effort = new WorkBudget();
    const body = Buffer.alloc(1_024 * 1_024, "{");
    const suspect = { headers: FORGED, body, method: "POST", url: URL_CALLED };
    atOnce(diagnoseSignature(suspect, { accepted: [CURRENT], named: NAMED }, effort));
    expect(effort.spent).toBeGreaterThan(MOST_UNITS);
    expect(effort.spent).toBeLessThanOrEqual(MOST_UNITS + 2 * body.length);
  });

  it("leaves a nested body of some size its likeliest writings", () => {
    const sent = nested(8_000, 20, "1");
    const suspect = {
      headers: { "x-signature": [mac(sent)] },
      body: Buffer.from(sent.replaceAll(",", ", ")),
      method: "POST",
      url: URL_CALLED,
    };
    expect(atOnce(diagnoseSignature(suspect, { accepted: [CURRENT], named: [] }))).toMatchObject({
      code: "reserialised",
      message: expect.stringContaining("without spaces"),
    });
  });
});

function atOnce<Result>(steps: Generator<undefined, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
