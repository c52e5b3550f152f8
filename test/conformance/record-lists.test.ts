import { describe, expect, it } from "vitest";
import { DIALECTS, withStore } from "../support/databases.ts";
import { committing, newRecord } from "../support/effects.ts";
import { runOnce } from "../support/once.ts";

describe.each(DIALECTS)("the lists of records on %s", (dialect) => {
  it("records are listed newest first in pages, and by event", () =>
    withStore(dialect, async (store) => {
      for (const id of ["e1", "e2", "e3"])
        await runOnce(store, newRecord(id), async () => ({ result: {} }), committing());
      const first = await store.records.list({ limit: 2 }, {});
      expect(first.map(({ eventId }) => eventId)).toEqual(["e3", "e2"]);
      expect((await store.records.list({ limit: 2, before: first[1]!.id }, {})).map((r) => r.eventId)).toEqual(["e1"]);
      expect(await store.records.list({ limit: 9 }, { eventId: "e2" })).toHaveLength(1);
    }));

  it("records of a source are listed in pages without those of its named handlers and tenants", () =>
    withStore(dialect, async (store) => {
      for (const id of ["e1", "e2"])
        for (const source of ["shop", "shop#audit", "shop/acme"])
          await runOnce(store, newRecord(id, { source }), async () => ({ result: {} }), committing());
      const first = await store.records.search({ source: "shop" }, { limit: 1, budgetMs: 10_000 });
      expect(first.rows).toMatchObject([{ source: "shop", eventId: "e2" }]);
      const rest = { limit: 1, before: first.next!, budgetMs: 10_000 };
      expect(await store.records.search({ source: "shop" }, rest)).toMatchObject({
        rows: [{ source: "shop", eventId: "e1" }],
        next: null,
      });
    }));

  it("the records of one event are listed in pages, and by source", () =>
    withStore(dialect, async (store) => {
      for (const source of ["shop", "shop#audit"])
        await runOnce(store, newRecord("e1", { source }), async () => ({ result: { source } }), committing());
      const newest = await store.records.search({ eventId: "e1" }, { limit: 1, budgetMs: 0 });
      expect(newest).toMatchObject({ rows: [{ source: "shop#audit", result: { source: "shop#audit" } }] });
      const older = { limit: 1, before: newest.next!, budgetMs: 0 };
      expect(await store.records.search({ eventId: "e1" }, older)).toMatchObject({
        rows: [{ source: "shop" }],
        next: null,
      });
      const ofSource = await store.records.list({ limit: 9 }, { eventId: "e1", source: "shop" });
      expect(ofSource.map(({ source }) => source)).toEqual(["shop"]);
    }));
});
