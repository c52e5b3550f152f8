import { expect, it } from "vitest";
import { parseQuery, queryText, searchedTexts } from "../../dashboard/src/pages/activity/query-text.ts";
import { parseSearchQuery } from "../../src/domain/index.ts";

const NOW = Date.parse("2026-11-27T12:00:00.000Z");

it("a typed query sets the filters that have chips, and keeps its other words", () => {
  expect(parseQuery("source:stripe order-123 outcome:duplicate since:3d data.customer:cus_1", NOW)).toEqual({
    source: "stripe",
    outcome: "duplicates",
    since: "3d",
    q: "order-123 data.customer:cus_1",
  });
  expect(parseQuery("since:2026-11-20 until:1h id:evt_1 https://example.com", NOW)).toEqual({
    from: "2026-11-20T00:00:00.000Z",
    to: "2026-11-27T11:00:00.000Z",
    event_id: "evt_1",
    q: "https://example.com",
  });
});

it.each([
  {},
  { source: "stripe", outcome: "duplicates", since: "24h", q: '"Jane Doe" .status:paid' },
  { event_type: "invoice.*", status: "5xx", remote_address: "192.0.2.1", event_id: 'a "b" c\\d' },
  { from: "2026-11-20T00:00:00.000Z", to: "2026-11-21T00:00:00.000Z" },
])("the text of a search is read as the same search by the page and by the receiver: %o", (search) => {
  const text = queryText(search);
  expect(parseQuery(text, NOW)).toEqual(search);
  const { filter, terms } = parseSearchQuery(text, new Date(NOW));
  expect(filter.source).toBe(search.source);
  expect(terms.map(({ value }) => value)).toEqual(searchedTexts(search).map((value) => value.toLowerCase()));
});

it("a filter whose value is wrong stays as it is, for the receiver to say what it expects", () => {
  expect(queryText(parseQuery("since:tomorrow outcome:broken", NOW))).toBe("outcome:broken since:tomorrow");
  expect(parseQuery("soruce:stripe", NOW)).toEqual({ q: "soruce:stripe" });
});
