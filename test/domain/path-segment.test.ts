import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromPathSegment, toPathSegment } from "../../src/domain/index.ts";

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
  it("a segment comes back as it was, through any parser of addresses", () => {
    fc.assert(
      fc.property(TEXTS, (text) => {
        const { pathname } = new URL(`http://host/events/platform/${encodeURIComponent(toPathSegment(text))}/replay`);
        const [, events, source, segment = "", replay, ...more] = pathname.split("/");
        expect([events, source, replay, more]).toEqual(["events", "platform", "replay", []]);
        expect(fromPathSegment(decodeURIComponent(segment))).toBe(text);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    [".", "~."],
    ["..", "~.."],
    ["~.", "~~."],
    ["~~..", "~~~.."],
  ])("the text %s has the path segment %s", (text, segment) => {
    expect(toPathSegment(text)).toBe(segment);
    expect(fromPathSegment(segment)).toBe(text);
  });

  it.each(["evt_1", "...", ".a", "~", "~~", "~home", "~...", "a~."])(
    "a text that no parser changes is its own path segment: %s",
    (text) => {
      expect([toPathSegment(text), fromPathSegment(text)]).toEqual([text, text]);
    },
  );
});
