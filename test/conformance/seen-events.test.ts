import { describe, expect, it } from "vitest";
import { DIALECTS, withStore } from "../support/databases.ts";
import { committing, newRecord } from "../support/effects.ts";
import { runOnce } from "../support/once.ts";

const NOW = new Date("2026-06-15T12:00:00.000Z");
const processedAt = new Date("2025-01-02T03:04:05.000Z");
const seen = (eventId: string, source = "shop") => ({
  ...{ source, eventId, eventType: "order", version: "v1", bodySha256: "" },
  processedAt,
});

describe.each(DIALECTS)("events that another program handled, on %s", (dialect) => {
  it("an imported event has a completed record, and its delivery is a duplicate", () =>
    withStore(dialect, async (store) => {
      const known = await store.seenEvents.add([seen("evt_2"), seen("evt_1")], NOW);
      expect([known.records.size, known.failures.size]).toEqual([0, 0]);
      const { rows } = await store.records.search({ source: "shop" }, { limit: 9, budgetMs: 10_000 });
      expect(rows.map(({ eventId }) => eventId)).toEqual(["evt_2", "evt_1"]);
      expect(rows[0]).toMatchObject({
        ...{ status: "completed", result: { imported: true }, eventType: "order", bodySha256: "" },
        ...{ createdAt: NOW.toISOString(), processedAt: processedAt.toISOString() },
      });
      const run = async () => ({ result: { ran: true } });
      const result = await runOnce(store, newRecord("evt_1", { source: "shop" }), run, committing());
      expect(result).toMatchObject({ kind: "duplicate", record: { result: { imported: true } } });
    }));

  it("an import leaves a record of the receiver as it is, and adds the others", () =>
    withStore(dialect, async (store) => {
      const run = async () => ({ result: { ran: true } });
      await runOnce(store, newRecord("evt_1", { source: "shop" }), run, committing());
      const known = await store.seenEvents.add([seen("evt_1"), seen("evt_2")], NOW);
      expect([...known.records]).toEqual(["shop\u0000evt_1"]);
      expect(await store.records.list({ limit: 9 }, { eventId: "evt_1" })).toMatchObject([{ result: { ran: true } }]);
      expect(await store.records.list({ limit: 9 }, { eventId: "evt_2" })).toHaveLength(1);
      expect((await store.seenEvents.add([seen("evt_1"), seen("evt_2")], NOW)).records.size).toBe(2);
      expect(await store.seenEvents.known([seen("evt_2"), seen("evt_3")])).toMatchObject({
        records: new Set(["shop\u0000evt_2"]),
      });
    }));

  it("an event that is imported twice at the same time has one record", () =>
    withStore(dialect, async (store) => {
      const events = Array.from({ length: 50 }, (_, index) => seen(`evt_${index}`));
      await Promise.all([events, events.toReversed(), events].map((some) => store.seenEvents.add(some, NOW)));
      expect(await store.records.list({ limit: 99 }, { source: "shop" })).toHaveLength(50);
    }));
});
