import { expect, it } from "vitest";
import { activitySearch, apiFilters } from "../../dashboard/src/pages/activity/activity-filters.ts";

const NOW = Date.parse("2026-11-27T12:00:00.000Z");

it("a group of outcomes and a preset of the address become filters of the API", () => {
  expect(apiFilters({ outcome: "failed", since: "24h", open: "7" }, NOW)).toEqual({
    outcome: "failed",
    from: "2026-11-26T12:00:00.000Z",
  });
  expect(apiFilters({ outcome: "duplicates" }, NOW)).toEqual({ outcome: "duplicate" });
  expect(apiFilters({ outcome: "handler_failed", source: "stripe" }, NOW)).toEqual({
    outcome: "handler_failed",
    source: "stripe",
  });
});

it("a search for values has no filters of the API", () => {
  expect(apiFilters({ q: "order-123" }, NOW)).toBeUndefined();
  expect(apiFilters({ event_type: "invoice.*" }, NOW)).toBeUndefined();
});

it("a text of an earlier address becomes a value that is searched for", () => {
  expect(activitySearch({ text: 'a:b "c"' })).toEqual({ q: '"a:b \\"c\\""' });
});

it("the address keeps an event id of digits, and drops what the page does not know", () => {
  expect(activitySearch({ event_id: "0012", nobody: "knows", text: "" })).toEqual({ event_id: "0012" });
});
