import { describe, expect, it } from "vitest";
import { searchCallbacks } from "../../src/admin/search/search-callbacks.ts";
import { type CallbackLogEntry, DAY_MS, parseSearchQuery } from "../../src/domain/index.ts";
import { run } from "../../src/store/database.ts";
import { sql } from "../../src/store/index.ts";
import { DIALECTS, openTarget, withStore } from "../support/databases.ts";
import { logRow } from "../support/log-row.ts";
import { find, handClock, indexerOf, SEGMENT_IDS } from "../support/value-index.ts";

const START = Date.parse("2026-05-06T07:00:00.000Z");

/** Row `n` has a value of its own, and those of every fifth row share a customer. */
function row(n: number, over: Partial<CallbackLogEntry> = {}): CallbackLogEntry {
  return logRow({
    requestId: `request-${n}`,
    eventId: `evt_${n}`,
    receivedAt: new Date(START + n * 1_000).toISOString(),
    source: n % 2 === 0 ? "stripe" : "github",
    requestHeaders: JSON.stringify({ "x-github-delivery": `delivery-${n}` }),
    requestBody: JSON.stringify({ data: { order: `Order-${n}`, customer: `cus_${n % 5}`, kind: "sale" } }),
    ...over,
  });
}

const rows = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => row(from + index));

describe.each(DIALECTS)("the index of values on %s", (dialect) => {
  it("a search finds the same rows before and after they are indexed, exact before prefix before text", () =>
    withStore(dialect, async (store) => {
      await store.appendCallbacks(rows(1, 130));
      const queries = {
        "order-12": ["exact 12", ...[129, 128, 127, 126, 125, 124, 123, 122, 121, 120].map((n) => `prefix ${n}`)],
        "rder-130": ["text 130"],
        "delivery-7": ["exact 7", ...[79, 78, 77, 76, 75, 74, 73, 72, 71, 70].map((n) => `prefix ${n}`)],
        "id:evt_99": ["exact 99"],
        "request:request-3": ["exact 3"],
        "data.customer:cus_1 source:stripe since:2026-05-06T07:01 until:2026-05-06T07:01:40": [
          "exact 96",
          "exact 86",
          "exact 76",
          "exact 66",
        ],
        "order-55 cus_0": ["exact 55"],
        "customer:order-55": [],
        "order-131": [],
      };
      const answers = async () =>
        Object.fromEntries(
          await Promise.all(Object.keys(queries).map(async (query) => [query, await find(store, query)])),
        );
      expect(await answers()).toEqual(queries);
      expect(await indexerOf(store).build()).toBe(3);
      const segments = await store.valueIndex.segments();
      expect(segments.map(({ fromId, toId }) => toId - fromId + 1)).toEqual([SEGMENT_IDS, SEGMENT_IDS, SEGMENT_IDS]);
      expect(await answers()).toEqual(queries);
      // A value of every row is left out of the blocks, and found by reading the log.
      expect(segments[0]?.common).toContain("sale");
      expect((await find(store, "kind:sale", 7)).length).toBe(130);
    }));

  it("a search goes on after each page where the page before has ended", () =>
    withStore(dialect, async (store) => {
      await store.appendCallbacks(rows(1, 130));
      const all = await find(store, "cus_3");
      await indexerOf(store).build();
      expect(all).toHaveLength(26);
      for (const limit of [1, 3, 26]) expect(await find(store, "cus_3", limit)).toEqual(all);
    }));

  it("a request reads the block of a value once, for the whole value and for those that begin so", () =>
    withStore(dialect, async (store) => {
      await store.appendCallbacks(rows(1, 120));
      await indexerOf(store).build();
      const asked: number[] = [];
      const valueIndex = new Proxy(store.valueIndex, {
        get(index, name) {
          const member: unknown = Reflect.get(index, name);
          if (typeof member !== "function") return member;
          return (...given: unknown[]) => {
            if (name === "idsOf") asked.push(...(given[0] as { fromId: number }[]).map(({ fromId }) => fromId));
            return Reflect.apply(member, index, given);
          };
        },
      });
      const query = parseSearchQuery("order-12", new Date(START));
      const watched = { callbacks: store.callbacks, valueIndex };
      const { found } = await searchCallbacks(watched, { query, limit: 9, budgetMs: 1_000 });
      expect(found.map(({ row: one, match }) => `${match?.kind} ${one.requestId}`)).toEqual([
        "exact request-12",
        "prefix request-120",
      ]);
      expect(asked.sort()).toEqual((await store.valueIndex.segments()).map(({ fromId }) => fromId).sort());
    }));

  it("values that JSON, a form or UTF-8 write in another way are found as they are meant", () =>
    withStore(dialect, async (store) => {
      await store.appendCallbacks([
        row(1, { requestBody: '{"url":"https:\\/\\/example.com\\/a","name":"J\\u00e9r\\u00f4me"}' }),
        row(2, { requestBody: "email=ada%40example.com&name=Ada+Lovelace" }),
        row(3, { requestBody: JSON.stringify({ emoji: "🦉 owl", next: "\uffee" }) }),
        ...rows(4, 40),
      ]);
      const queries = ["https://example.com/a", "Jérôme", "ada@example.com", '"Ada Lovelace"', '"🦉 owl"', "\uffee"];
      const answers = () => Promise.all(queries.map((query) => find(store, query)));
      const expected = [["exact 1"], ["exact 1"], ["exact 2"], ["exact 2"], ["exact 3"], ["exact 3"]];
      expect(await answers()).toEqual(expected);
      expect(await indexerOf(store).build()).toBe(1);
      expect(await answers()).toEqual(expected);
    }));

  it("a row that is stored late, or becomes visible after higher ids, is found", () =>
    withStore(dialect, async (store) => {
      const indexer = indexerOf(store);
      await store.appendCallbacks(rows(1, SEGMENT_IDS));
      await indexer.build();
      await store.appendCallbacks([row(500, { receivedAt: new Date(START - DAY_MS).toISOString() })]);
      expect(await find(store, "order-500")).toEqual(["exact 500"]);
      await store.appendCallbacks(rows(501, 540));
      await indexer.build();
      expect(await store.valueIndex.segments()).toHaveLength(2);
      expect(await find(store, "order-500")).toEqual(["exact 500"]);
      expect(await find(store, "order-500 until:2026-05-05T08:00")).toEqual(["exact 500"]);
    }));

  it("the segments whose rows are deleted go, and those in part stay", () =>
    withStore(dialect, async (store) => {
      await store.appendCallbacks(rows(1, 120));
      await indexerOf(store).build();
      const [oldest] = (await store.valueIndex.segments()).slice(-1);
      await run(store.database.write, sql`DELETE FROM oncehook_callbacks WHERE id <= ${(oldest?.toId ?? 0) + 5}`);
      expect(await store.valueIndex.sweep()).toBe(1);
      expect(await store.valueIndex.segments()).toHaveLength(2);
      expect(await find(store, "order-42")).toEqual([]);
      expect(await find(store, "order-46")).toEqual(["exact 46"]);
    }));

  it("an erased value is in no block, and the other rows of its segment are found and indexed again", () =>
    withStore(dialect, async (store) => {
      const indexer = indexerOf(store);
      await store.appendCallbacks(rows(1, 120));
      await indexer.build();
      const [erased] = (await store.callbacks.search({ text: "order-50" }, { limit: 1, budgetMs: 1_000 })).callbacks;
      const id = erased?.id ?? 0;
      await run(store.database.write, sql`UPDATE oncehook_callbacks SET request_body = '{}' WHERE id = ${id}`);
      await store.valueIndex.forget([id]);
      expect(await store.valueIndex.segments()).toHaveLength(2);
      expect(await find(store, "order-51")).toEqual(["exact 51"]);
      expect(await indexer.build()).toBe(1);
      expect(await find(store, "order-51")).toEqual(["exact 51"]);
      const segments = await store.valueIndex.segments();
      const found = await store.valueIndex.idsOf(segments, "order-50", "exact");
      expect([...found.values()].flatMap(({ exact }) => exact)).toEqual([]);
    }));

  it("a segment that was read before an erasure is not written after it, and none is written twice", () =>
    withStore(dialect, async (store) => {
      await store.appendCallbacks(rows(1, 10));
      const { from } = await store.valueIndex.logRange();
      const time = new Date(START).toISOString();
      const times = { fromTime: time, toTime: time, rowCount: 10, common: [], blocks: [] };
      const segment = { fromId: from, toId: from + 9, ...times };
      const before = await store.valueIndex.erasures();
      await store.valueIndex.forget([from]);
      expect(await store.valueIndex.add(segment, before)).toBe(false);
      const after = await store.valueIndex.erasures();
      expect(await store.valueIndex.add(segment, after)).toBe(true);
      expect(await store.valueIndex.add({ ...segment, fromId: from + 5, toId: from + 20 }, after)).toBe(false);
      expect(await store.valueIndex.add({ ...segment, fromId: from, toId: from + 2 }, after)).toBe(false);
    }));

  it("one process at a time builds, and a stop between two steps leaves a whole index", () =>
    withStore(dialect, async (store, target) => {
      await store.appendCallbacks(rows(1, 120));
      const { store: other } = await openTarget(target);
      try {
        const clock = handClock();
        await indexerOf(store, clock).build();
        await store.valueIndex.forget([(await store.valueIndex.logRange()).from + 1]);
        const [first, second] = [indexerOf(store, clock), indexerOf(other, clock)];
        let asked = 0;
        // Stops at its second question, when the rows of a segment may have been read.
        await first.round(() => ++asked > 1);
        const built = await Promise.all([first.round(), second.round()]);
        expect(built[0] + built[1]).toBeLessThanOrEqual(1);
        expect(await store.valueIndex.segments()).toHaveLength(3);
        expect(await find(other, "order-2")).toEqual(expect.arrayContaining(["exact 2", "prefix 29"]));
      } finally {
        await other.close();
      }
    }));
});
