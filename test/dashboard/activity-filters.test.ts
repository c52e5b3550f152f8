import { expect, it } from "vitest";
import { activitySearch, apiFilters } from "../../dashboard/src/pages/activity/activity-filters.ts";

const NOW = Date.parse("2026-11-27T12:00:00.000Z");

it("a group of outcomes and a preset of the address become filters of the API", () => {
  expect(apiFilters({ outcome: "failed", since: "24h", open: "7" }, NOW)).toEqual({
    status: "5xx",
    from: "2026-11-26T12:00:00.000Z",
  });
  expect(apiFilters({ outcome: "refused" }, NOW)).toEqual({ status: "4xx", outcome: "!endpoint_check" });
  expect(apiFilters({ outcome: "handler_failed", source: "stripe" }, NOW)).toEqual({
    outcome: "handler_failed",
    source: "stripe",
  });
});

it("the address keeps an event id of digits, and drops what the page does not know", () => {
  expect(activitySearch({ event_id: "0012", nobody: "knows", text: "" })).toEqual({ event_id: "0012" });
});
