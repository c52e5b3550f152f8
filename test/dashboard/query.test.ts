import { expect, it } from "vitest";
import { parseQuery } from "../../dashboard/src/shell/query.ts";

const NOW = new Date("2026-11-27T12:00:00.000Z");

it("the search box reads typed filters, and takes the other words as a part of the body", () => {
  expect(parseQuery("source:stripe order-123 outcome:handler_failed since:3d a b", NOW)).toEqual({
    source: "stripe",
    outcome: "handler_failed",
    from: "2026-11-24T12:00:00.000Z",
    text: "order-123 a b",
  });
});

it("the search box takes a word with an unknown name before its colon as a part of the body", () => {
  expect(parseQuery("https://example.com since:tomorrow", NOW)).toEqual({ text: "https://example.com since:tomorrow" });
});
