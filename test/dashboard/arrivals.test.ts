import { expect, it } from "vitest";
import { arrivalsReducer, NO_ARRIVALS } from "../../dashboard/src/pages/activity/arrivals.ts";
import type { CallbackRowView } from "../../src/admin-client/index.ts";

const callbacks = (...ids: number[]) => ids.map((id) => ({ id }) as CallbackRowView);
const arrive = (was: typeof NO_ARRIVALS, ...ids: number[]) =>
  arrivalsReducer(was, { type: "arrive", callbacks: callbacks(...ids) });
const idsOf = (rows: readonly CallbackRowView[]) => rows.map(({ id }) => id);

it("the list holds callbacks that arrive, newest first and each once, until they are asked for", () => {
  const held = arrive(arrive(NO_ARRIVALS, 7), 9, 7, 8);
  expect([idsOf(held.held), idsOf(held.shown)]).toEqual([[9, 8, 7], []]);
  const shown = arrive(arrivalsReducer(held, { type: "show" }), 9, 10);
  expect([idsOf(shown.held), idsOf(shown.shown)]).toEqual([[10], [9, 8, 7]]);
});

it("the list is read again when more callbacks arrived than it holds, or some are missing", () => {
  expect(arrive(NO_ARRIVALS, 1).isBehind).toBe(false);
  expect(arrive(NO_ARRIVALS, ...Array.from({ length: 1_001 }, (_, id) => id)).isBehind).toBe(true);
  expect(arrivalsReducer(NO_ARRIVALS, { type: "arrive", callbacks: callbacks(5), hasGap: true }).isBehind).toBe(true);
});
