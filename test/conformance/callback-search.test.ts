import { describe, expect, it } from "vitest";
import { type CallbackFilter, type CallbackLogEntry, matchesCallback } from "../../src/domain/index.ts";
import type { Store, StoredCallback } from "../../src/store/index.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { committing, newRecord } from "../support/effects.ts";
import { logRow } from "../support/log-row.ts";
import { runOnce } from "../support/once.ts";

const START = Date.parse("2026-05-06T07:00:00.000Z");
const at = (seconds: number) => new Date(START + seconds * 1_000).toISOString();
const LONG = { budgetMs: 60_000 };

const ENDINGS = [
  { outcome: "success", responseStatus: 200 },
  { outcome: "already_processed", responseStatus: 200 },
  { outcome: "signature_mismatch", responseStatus: 401 },
  { outcome: "signature_missing", responseStatus: 401 },
  { outcome: "event_type_unknown", responseStatus: 400 },
  { outcome: "handler_failed", responseStatus: 500 },
] as const;
const BODIES = ['{"Name":"Zoë 100%"}', '{"name":"ZOË_100"}', '{"path":"a\\\\b"}', "", '{"q":"%"}'];

/** One row a second, of every kind, so that each filter means some of them. */
function mixed(count: number): CallbackLogEntry[] {
  return Array.from({ length: count }, (_, index) =>
    logRow({
      ...(ENDINGS[index % ENDINGS.length] ?? ENDINGS[0]),
      requestId: `r${index}`,
      receivedAt: at(index),
      source: index % 5 === 0 ? "oauth" : index % 7 === 0 ? null : "platform",
      eventType: index % 3 === 0 ? "payment_notify" : null,
      eventId: index % 4 === 0 ? `e${index % 20}` : null,
      remoteAddress: `10.0.0.${index % 9}`,
      requestBody: BODIES[index % BODIES.length] ?? "",
    }),
  );
}

async function fill(store: Store, rows: readonly CallbackLogEntry[]): Promise<StoredCallback[]> {
  for (let from = 0; from < rows.length; from += 200) await store.appendCallbacks(rows.slice(from, from + 200));
  const { callbacks } = await store.callbacks.search({}, { limit: rows.length, ...LONG });
  expect(callbacks).toHaveLength(rows.length);
  return [...callbacks];
}

/** Page after page to the end, with as little at a time as may be. */
async function everyMatch(store: Store, filter: CallbackFilter, limit: number): Promise<StoredCallback[]> {
  const found: StoredCallback[] = [];
  for (let before: number | null | undefined; before !== null; ) {
    const search = { limit, budgetMs: 0, ...(before === undefined ? {} : { before }) };
    const page = await store.callbacks.search(filter, search);
    expect(page.callbacks.length).toBeLessThanOrEqual(limit);
    expect(page.next === null).toBe(page.searchedUntil === null);
    found.push(...page.callbacks);
    before = page.next;
  }
  return found;
}

const FILTERS: readonly (readonly [string, CallbackFilter])[] = [
  ["nothing", {}],
  ["a source", { source: "oauth" }],
  ["a type", { eventType: "payment_notify" }],
  ["an address", { remoteAddress: "10.0.0.3" }],
  ["an event", { eventId: "e4" }],
  ["an event and how it ended", { eventId: "e8", outcomes: ["signature_mismatch"] }],
  ["a rare outcome", { outcomes: ["signature_mismatch"] }],
  ["several rare outcomes", { outcomes: ["handler_failed", "signature_missing", "overloaded"] }],
  ["a common outcome", { outcomes: ["already_processed"] }],
  ["a rare outcome and a common one", { outcomes: ["success", "handler_failed"] }],
  ["a status", { statuses: [401, 401] }],
  ["a class of statuses", { statuses: [400, 499] }],
  ["a class that all may be of", { statuses: [200, 299] }],
  ["a status that nothing has", { statuses: [418, 418] }],
  ["a rare outcome of a source", { outcomes: ["handler_failed"], source: "oauth" }],
  ["a text, whatever the case of its letters", { text: "zo" }],
  ["a text with a letter that is not folded", { text: "zoë" }],
  ["a text with what LIKE would take for a wildcard", { text: "%" }],
  ["a text with an underscore", { text: "_100" }],
  ["a text with a backslash", { text: "a\\\\b" }],
  ["times", { from: at(100), to: at(160) }],
  ["times after all of them", { from: at(86_400) }],
  ["times before all of them", { to: at(-86_400) }],
  ["a time and an outcome", { from: at(200), outcomes: ["success"] }],
  ["everything at once", { from: at(10), source: "platform", statuses: [400, 499], text: "name" }],
];

describe.each(DIALECTS)("a search in the callback log on %s", (dialect) => {
  it("a search finds the matches of each filter, page by page, without gaps or repetitions", { tags: "full" }, () =>
    withStore(dialect, async (store) => {
      const all = await fill(store, mixed(700));
      for (const [name, filter] of FILTERS) {
        const meant = all.filter((row) => matchesCallback(filter, row)).map(({ requestId }) => requestId);
        const whole = await store.callbacks.search(filter, { limit: 700, ...LONG });
        expect([name, whole.callbacks.map(({ requestId }) => requestId)]).toEqual([name, meant]);
        expect([name, whole.next, whole.searchedUntil]).toEqual([name, null, null]);
        const paged = await everyMatch(store, filter, 7);
        expect([name, paged.map(({ requestId }) => requestId)]).toEqual([name, meant]);
      }
      // Each filter but those that are meant to find nothing found something, or the test would say little.
      const empty = FILTERS.filter(([, filter]) => !all.some((row) => matchesCallback(filter, row)));
      expect(empty.map(([name]) => name)).toEqual([
        "a status that nothing has",
        "times after all of them",
        "times before all of them",
      ]);
    }),
  );

  it("a search ends at its time limit, reports its position, and continues from there", () =>
    withStore(dialect, async (store) => {
      await fill(store, [logRow({ requestId: "first", eventType: "rare" }), ...mixed(400)]);
      const filter = { eventType: "rare" };
      const one = await store.callbacks.search(filter, { limit: 5, budgetMs: 0 });
      expect(one.callbacks).toEqual([]);
      expect(one.searchedUntil).toBe(at(400 - 64));
      const found = await everyMatch(store, filter, 5);
      expect(found.map(({ requestId }) => requestId)).toEqual(["first"]);
    }));

  it("a search reads few rows at a time where it compares bodies, and fewer where these are long", () =>
    withStore(dialect, async (store) => {
      const bodies = mixed(400).map((row, index) => (index < 390 ? row : { ...row, requestBody: "x".repeat(300_000) }));
      await fill(store, bodies);
      const page = { limit: 5, budgetMs: 0 };
      const long = await store.callbacks.search({ text: "nowhere" }, page);
      expect(long.searchedUntil).toBe(at(400 - (dialect === "sqlite" ? 2 : 64)));
      const short = await store.callbacks.search({ text: "nowhere" }, { ...page, before: Number(long.next) - 8 });
      expect(Number(long.next) - 8 - Number(short.next)).toBe(64);
    }));

  it("a search yields between its steps, since a callback may be waiting", () =>
    withStore(dialect, async (store) => {
      await fill(store, mixed(2_000));
      let [turns, isOver] = [0, false];
      const turn = () => {
        turns += 1;
        if (!isOver) setImmediate(turn);
      };
      setImmediate(turn);
      const { callbacks } = await store.callbacks.search({ source: "nobody" }, { limit: 5, ...LONG });
      isOver = true;
      expect(callbacks).toEqual([]);
      // 2,000 rows in steps of 64 that are at most doubled each time.
      expect(turns).toBeGreaterThanOrEqual(4);
    }));

  it("a search finds the callbacks of a period, also where rows got their ids minutes later than others", () =>
    withStore(dialect, async (store) => {
      const rows = mixed(400).map((row, index) => ({
        ...row,
        receivedAt: at(index * 30 - (index % 10 === 0 ? 110 : 0)),
      }));
      const all = await fill(store, rows);
      for (let from = 0; from < 12_000; from += 1_717) {
        const filter = { from: at(from), to: at(from + 600) };
        const meant = all.filter((row) => matchesCallback(filter, row));
        expect(meant.length).toBeGreaterThan(15);
        expect(await everyMatch(store, filter, 50)).toEqual(meant);
      }
    }));

  it("a search continues past deleted ids", () =>
    withStore(dialect, async (store) => {
      await fill(store, mixed(300));
      const limits = { callbacks: new Date(0), refusedRowsKept: 10, now: new Date(START) };
      await store.retention.sweep(limits);
      const { callbacks } = await store.callbacks.search({}, { limit: 500, ...LONG });
      expect(callbacks.length).toBe(85);
      const filter = { from: at(50), to: at(250) };
      const meant = callbacks.filter((row) => matchesCallback(filter, row));
      expect(await everyMatch(store, filter, 9)).toEqual(meant);
    }));

  it("a search finds the row that was committed with its event's record, and those of its duplicates", () =>
    withStore(dialect, async (store) => {
      for (const eventId of ["e1", "e2"])
        await runOnce(
          store,
          newRecord(eventId),
          async () => ({ result: {}, logEntry: logRow({ eventId, requestId: `handled ${eventId}` }) }),
          committing(),
        );
      await store.appendCallbacks([
        logRow({ eventId: "e1", requestId: "again e1", outcome: "already_processed" }),
        logRow({ eventId: "e1", requestId: "failed e1", outcome: "handler_failed", responseStatus: 500 }),
      ]);
      const idsOf = async (filter: CallbackFilter) =>
        (await everyMatch(store, filter, 2)).map(({ requestId }) => requestId);
      expect(await idsOf({ eventId: "e1" })).toEqual(["failed e1", "again e1", "handled e1"]);
      expect(await idsOf({ eventId: "e1", outcomes: ["success"] })).toEqual(["handled e1"]);
      expect(await idsOf({ eventId: "e1", statuses: [500, 599] })).toEqual(["failed e1"]);
      expect(await idsOf({ eventId: "e3" })).toEqual([]);
    }));

  it("a search returns one row by its id, the newest ids, and the rows after an id", () =>
    withStore(dialect, async (store) => {
      const all = await fill(store, mixed(30));
      const [newest, second] = all;
      expect(await store.callbacks.get(Number(second?.id))).toEqual(second);
      expect(await store.callbacks.get(1_000_000)).toBeUndefined();
      expect(await store.callbacks.newestIds(2)).toEqual([newest?.id, second?.id]);
      const oldest = Number(all.at(-1)?.id);
      expect(await store.callbacks.after(oldest, 3)).toEqual(all.slice(-4, -1).reverse());
      expect(await store.callbacks.byIds([Number(newest?.id), oldest, 1_000_000])).toEqual([all.at(-1), newest]);
      expect(await store.callbacks.byIds([])).toEqual([]);
    }));
});

describe("a search for a text on sqlite", () => {
  it("a search does not block for bodies that nearly match at each character", () =>
    withStore("sqlite", async (store) => {
      await fill(
        store,
        Array.from({ length: 64 }, () => logRow({ requestBody: "a".repeat(65_000) })),
      );
      const msFor = async (text: string) => {
        const begun = performance.now();
        const { callbacks } = await store.callbacks.search({ text }, { limit: 5, ...LONG });
        expect(callbacks).toEqual([]);
        return performance.now() - begun;
      };
      const quickest = async (text: string) => Math.min(await msFor(text), await msFor(text), await msFor(text));
      // About four times; with LIKE it was two thousand times.
      expect(await quickest(`${"a".repeat(199)}b`)).toBeLessThan(100 * (await quickest("zb")));
    }));
});
