import { expect, it } from "vitest";
import { historyOf } from "../../src/retry/backfill-history.ts";
import type { BackfillPosition, Store } from "../../src/store/index.ts";
import { createOriginalMerger } from "../../src/upkeep/index.ts";
import { describeFullOnPostgres, withStore } from "../support/databases.ts";
import { newRecord } from "../support/effects.ts";
import { logRow } from "../support/log-row.ts";
import { originalsKeeper } from "../support/originals.ts";

const HOUR_MS = 3_600_000;
const log = { warn: (fields: unknown) => expect(fields).toBeUndefined() } as never;
const ids = Array.from({ length: 12 }, (_, index) => `e${index}`);
const begin = Date.now() - 1.5 * HOUR_MS;
const range = {
  ...{ source: "platform", type: undefined, since: new Date(0), originalsSince: new Date(0), until: new Date() },
};

/** Three events in each block. The last event of each came before the first one of the next block, or after it. */
async function keepAll(store: Store, { keep }: ReturnType<typeof originalsKeeper>, kept = ids): Promise<void> {
  for (let from = 0; from < kept.length; from += 3) {
    const rows = kept.slice(from, from + 3).map((eventId, index) => {
      const receivedAt = new Date(begin + (from + index) * 1_000 + (index === 2 ? 1_500 : 0));
      const unhandled = { record: newRecord(eventId), completion: { original: keep(eventId, { receivedAt }) } };
      return { ...logRow({ source: "platform", eventId, outcome: "ignored" }), unhandled };
    });
    await store.appendCallbacks(rows);
  }
}

describeFullOnPostgres("the history of a source on %s", (dialect) => {
  it.each([1, 3, 4, 5, 8])(
    "a history that stops after %i events goes on where blocks were merged meanwhile, and misses none",
    (stop) =>
      withStore(dialect, async (store) => {
        const kept = originalsKeeper();
        await keepAll(store, kept);
        const parts = { store, encryptor: kept.encryptor, now: new Date() };
        const seen = new Set<string>();
        let position: BackfillPosition = { phase: "originals" };
        for await (const item of historyOf(range, position, parts)) {
          position = item.position;
          if (item.kind === "original") seen.add(item.original.eventId);
          if (seen.size === stop) break;
        }
        const clock = { now: () => new Date() } as never;
        const merger = createOriginalMerger({ store, ...kept, clock, log, activeCallbacks: () => 0 });
        expect(await merger.round()).toBe(1);
        for await (const item of historyOf(range, position, parts))
          if (item.kind === "original") seen.add(item.original.eventId);
        expect([...seen].toSorted()).toEqual(ids.toSorted());
      }),
  );

  it("a history that is read while its blocks are merged with later ones misses none", () =>
    withStore(dialect, async (store) => {
      const kept = originalsKeeper();
      const [many, later] = [60, 6].map((count) => Array.from({ length: count }, (_, index) => `${count}-${index}`));
      await keepAll(store, kept, many);
      const parts = { store, encryptor: kept.encryptor, now: new Date() };
      const seen = new Set<string>();
      let isMerged = false;
      for await (const item of historyOf(range, { phase: "originals" }, parts)) {
        if (item.kind === "original") seen.add(item.original.eventId);
        if (isMerged) continue;
        await keepAll(store, kept, later);
        const clock = { now: () => new Date() } as never;
        const merger = createOriginalMerger({ store, ...kept, clock, log, activeCallbacks: () => 0 });
        isMerged = (await merger.round()) === 1;
      }
      expect(isMerged).toBe(true);
      expect([...seen].filter((id) => many?.includes(id))).toHaveLength(60);
    }));

  it("callbacks get a turn after each block of a history", () =>
    withStore(dialect, async (store) => {
      const kept = originalsKeeper();
      await keepAll(
        store,
        kept,
        Array.from({ length: 48 }, (_, index) => `t${index}`),
      );
      const parts = { store, encryptor: kept.encryptor, now: new Date() };
      let turns = 0;
      let isOver = false;
      const turn = () => {
        turns += 1;
        if (!isOver) setImmediate(turn);
      };
      setImmediate(turn);
      for await (const _ of historyOf(range, { phase: "originals" }, parts));
      isOver = true;
      expect(turns).toBeGreaterThanOrEqual(16);
    }));

  it("a history leaves out what came after its end, and what is of another source", () =>
    withStore(dialect, async (store) => {
      const kept = originalsKeeper();
      await keepAll(store, kept);
      const parts = { store, encryptor: kept.encryptor, now: new Date() };
      const namesOf = async (over: Partial<typeof range>) => {
        const names: string[] = [];
        for await (const item of historyOf({ ...range, ...over }, { phase: "stored" }, parts))
          if (item.kind === "original") names.push(item.original.eventId);
        return names;
      };
      expect(await namesOf({ until: new Date(begin + 1_000) })).toEqual(["e0", "e1"]);
      // The clock was set back since then.
      parts.now = new Date(begin);
      expect(await namesOf({ until: new Date(begin) })).toEqual(ids);
      parts.now = new Date();
      expect(await namesOf({ originalsSince: new Date(begin + 10_000) })).toEqual(["e10", "e11"]);
      expect(await namesOf({ source: "shop" })).toEqual([]);
    }));
});
