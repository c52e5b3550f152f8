import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compress, decompress, uncompressed } from "../../src/store/compression.ts";
import { decodeOriginals, encodeOriginals, type Original } from "../../src/store/original-block.ts";

const text = fc.string({ unit: "binary" });
const original: fc.Arbitrary<Original> = fc.record({
  source: text,
  eventId: text,
  eventType: text,
  version: fc.constantFrom("v1", "v2"),
  receivedAt: fc.constantFrom("2026-01-01T00:00:00.000Z", "2026-03-04T05:06:07.089Z"),
  method: fc.constantFrom("POST", "GET"),
  target: text,
  rawHeaders: fc.array(text),
  body: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
});
const one: Original = {
  source: "stripe",
  eventId: "evt_1",
  eventType: "invoice.paid",
  version: "v1",
  receivedAt: "2026-01-01T00:00:00.000Z",
  method: "POST",
  target: "/api/stripe/callback?a=1",
  rawHeaders: ["Host", "example.com", "Content-Type", "application/json", "X-A", "1", "x-a", "2"],
  body: Buffer.from('{"id":"evt_1","amount":4200,"customer":"cus_1"}'),
};

describe("a block of originals", () => {
  it.each([
    ["zstd", (plain: Buffer) => compress(plain, true)],
    ["deflate", (plain: Buffer) => compress(plain, false)],
    ["uncompressed", uncompressed],
  ])("a block returns the events that it was made of, byte for byte: %s", (_title, store) => {
    fc.assert(
      fc.property(fc.array(original, { maxLength: 8 }), (originals) => {
        expect(decodeOriginals(decompress(store(encodeOriginals(originals))))).toEqual(originals);
      }),
      { numRuns: 60 },
    );
  });

  it("a block of a group takes less than a third of the bytes that its events take", () => {
    const group = Array.from({ length: 16 }, (_, index) => ({ ...one, eventId: `evt_${index}` }));
    const alone = Buffer.byteLength(JSON.stringify({ ...one, body: one.body.toString() }));
    expect(compress(encodeOriginals(group)).length).toBeLessThan((alone * group.length) / 3);
  });

  it("bytes that are no block are refused by their first byte", () => {
    expect(() => decompress(Buffer.of(9, 1, 2))).toThrow("begins with 9, expected 0, 1 or 2");
  });
});
