import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asSegment, ofSegment } from "../../src/domain/index.ts";

/** Whole texts of what matters in addresses, and any others. */
const TEXTS = fc.oneof(
  fc.string({
    unit: fc.constantFrom(".", "~", "%2e", "/", "\\", "é", "?", "#", " "),
    minLength: 1,
    maxLength: 5,
  }),
  fc.string({ unit: "grapheme", minLength: 1 }),
);

describe("a text as a segment of a path", () => {
  it("comes back as it was, through any parser of addresses", () => {
    fc.assert(
      fc.property(TEXTS, (text) => {
        const { pathname } = new URL(
          `http://host/events/platform/${encodeURIComponent(asSegment(text))}/replay`,
        );
        const [, events, source, segment = "", replay, ...more] = pathname.split("/");
        expect([events, source, replay, more]).toEqual(["events", "platform", "replay", []]);
        expect(ofSegment(decodeURIComponent(segment))).toBe(text);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    [".", "~."],
    ["..", "~.."],
    ["~.", "~~."],
    ["~~..", "~~~.."],
  ])("is %s written %s", (text, segment) => {
    expect(asSegment(text)).toBe(segment);
    expect(ofSegment(segment)).toBe(text);
  });

  it.each(["evt_1", "...", ".a", "~", "~~", "~home", "~...", "a~."])("is left as it is: %s", (text) => {
    expect([asSegment(text), ofSegment(text)]).toEqual([text, text]);
  });
});
