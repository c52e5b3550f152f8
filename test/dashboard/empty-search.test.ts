import { expect, it } from "vitest";
import { isEmptySearch } from "../../dashboard/src/parts/empty-search.ts";

const pages = (counts: readonly number[]) =>
  counts.map((count) => ({ items: Array.from({ length: count }), next_cursor: "older" }));
const EMPTY = Array.from({ length: 20 }, () => 0);

it("the list continues past nineteen empty pages, and asks after twenty", () => {
  expect(isEmptySearch(pages([3, ...EMPTY.slice(1)]), 0)).toBe(false);
  expect(isEmptySearch(pages([3, ...EMPTY]), 0)).toBe(true);
});

it("the list continues past twenty more pages each time the operator asks for it", () => {
  expect(isEmptySearch(pages([...EMPTY, 0]), 20)).toBe(false);
  expect(isEmptySearch(pages([...EMPTY, ...EMPTY]), 20)).toBe(true);
  expect(isEmptySearch(pages([...EMPTY, ...EMPTY, 0]), 40)).toBe(false);
});

it("the list counts empty pages again after a page with results", () => {
  expect(isEmptySearch(pages([...EMPTY, 1, ...EMPTY.slice(1)]), 0)).toBe(false);
});

it("another search asks before it goes on as early as the first did", () => {
  expect(isEmptySearch(pages(EMPTY), 45)).toBe(true);
});
