import { expect, it } from "vitest";
import { allOf } from "../../dashboard/src/pages/problems/problem-text.ts";
import { changesBetween } from "../../dashboard/src/panel/delivery-changes.ts";
import { momentsOf } from "../../dashboard/src/panel/moments.ts";
import { openedBy, openOf } from "../../dashboard/src/panel/opened.ts";
import { ownFramesFirst } from "../../dashboard/src/panel/own-frames.ts";
import { ExactNumber, leavesOf, parseExact } from "../../dashboard/src/panel/parse-exact.ts";

it("the payload keeps every digit of a number", () => {
  const payload = parseExact('{"id":12345678901234567890,"amount":19.90}') as Record<string, unknown>;
  expect(payload.id).toEqual(new ExactNumber("12345678901234567890"));
  expect([...leavesOf(payload)]).toEqual([
    ["id", "12345678901234567890"],
    ["amount", "19.90"],
  ]);
});

it("a value's path is written as programs write it", () => {
  expect([...leavesOf({ data: { items: [{ "a b": 1 }], none: {} } }).keys()]).toEqual([
    'data.items[0]["a b"]',
    "data.none",
  ]);
});

it("a later delivery differs in the fields and headers that changed, were added or are gone", () => {
  const first = { body: '{"a":1,"b":{"c":"x"}}', headers: { "x-retry": "0", "x-request-id": "1" } };
  const now = { body: '{"a":1,"b":{"c":"y"},"d":true}', headers: { "x-request-id": "2" } };
  expect(changesBetween(first, now)).toEqual([
    { field: "b.c", first: "x", now: "y" },
    { field: "d", first: undefined, now: "true" },
    { field: "header x-retry", first: "0", now: undefined },
  ]);
});

it("a timeline begins with the arrival, and completes a record no earlier than its attempt ends", () => {
  const ended = { callback_id: 1, response_status: 200, outcome: "success", error: null, duration_ms: 25.2 };
  const at = "2026-11-28T20:23:41.619Z";
  const attempt = { at, kind: "attempt", by: "callback", ...ended } as const;
  expect(momentsOf([attempt, { at, kind: "record", status: "completed" }])).toEqual([
    { at, kind: "received" },
    attempt,
    { at: "2026-11-28T20:23:41.644Z", kind: "record", status: "completed" },
  ]);
});

it("the address of a panel names a callback or an event, whose id may hold slashes", () => {
  expect(openedBy("7")).toEqual({ callback: 7 });
  expect(openedBy(openOf({ source: "stripe", event_id: "evt/1" }))).toEqual({ source: "stripe", event_id: "evt/1" });
});

it("a stack begins with the frames of the user's code", () => {
  const error = ["Error: no", "    at run (/app/node_modules/kysely/a.js:1:1)", "    at handle (/app/config.ts:7:1)"];
  expect(ownFramesFirst(error.join("\n"))).toBe([error[0], error[2], error[1]].join("\n"));
});

it("a button names the number only where all were counted", () => {
  expect(allOf("Replay", { count: 41, at_least: false })).toBe("Replay all 41");
  expect(allOf("Replay", { count: 10_000, at_least: true })).toBe("Replay all");
});
