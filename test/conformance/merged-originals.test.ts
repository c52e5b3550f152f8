import { describe, expect, it } from "vitest";
import { createRunLock } from "../../src/pipeline/index.ts";
import type { Store } from "../../src/store/index.ts";
import { createEncryptor, systemClock } from "../../src/system/index.ts";
import { createOriginalMerger, erasePayloads } from "../../src/upkeep/index.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { committing, newRecord, rowsOf } from "../support/effects.ts";
import { logRow } from "../support/log-row.ts";
import { runOnce } from "../support/once.ts";
import { historyIn, originalsKeeper } from "../support/originals.ts";

const [HOUR_MS, MINUTE_MS] = [3_600_000, 60_000];
const log = { warn: (fields: unknown) => expect(fields).toBeUndefined() } as never;
const keyOf = (eventId: string) => ({ source: "platform", eventId });
const names = (count: number) => Array.from({ length: count }, (_, index) => `e${index}`);

/** Each in a group of its own, an hour and a half ago. */
async function keepEach(
  store: Store,
  kept: ReturnType<typeof originalsKeeper>,
  ids: readonly string[],
  receivedAt = new Date(Date.now() - 1.5 * HOUR_MS),
): Promise<void> {
  for (const id of ids) {
    const original = kept.keep(id, { receivedAt });
    await runOnce(store, newRecord(id), async () => ({ result: {}, logEntry: logRow(), original }), committing());
  }
}

function mergerOf(
  store: Pick<Store, "groupBlocks">,
  encryptor: ReturnType<typeof originalsKeeper>["encryptor"],
  now = Date.now(),
) {
  const clock = { now: () => new Date(now) } as never;
  return createOriginalMerger({ store, encryptor, clock, log, activeCallbacks: () => 0 });
}

async function walked(store: Store, encryptor: ReturnType<typeof originalsKeeper>["encryptor"]): Promise<string[]> {
  return (await historyIn(store, encryptor)).map(({ eventId }) => eventId);
}

const BLOCKS = "SELECT is_merged, first_callback_id, last_callback_id FROM oncehook_originals ORDER BY id";

describe.for(DIALECTS)("the merge of originals on %s", (dialect) => {
  it("blocks of single groups become one, in which each event is found", () =>
    withStore(dialect, async (store, target) => {
      const kept = originalsKeeper();
      await keepEach(store, kept, names(12));
      expect(await rowsOf(target, BLOCKS)).toHaveLength(12);
      expect(await mergerOf(store, kept.encryptor).round()).toBe(1);
      expect(await rowsOf(target, BLOCKS)).toMatchObject([{ is_merged: 1 }]);
      for (const name of names(12))
        expect((await store.originals.find(keyOf(name), kept.encryptor))?.target).toBe(kept.keep(name).target);
      expect(await walked(store, kept.encryptor)).toEqual(names(12));
      expect(await mergerOf(store, kept.encryptor).round()).toBe(0);
    }));

  it("a block that is not full and not an hour old waits, and its events are found", () =>
    withStore(dialect, async (store, target) => {
      const kept = originalsKeeper();
      await keepEach(store, kept, names(3));
      expect(await mergerOf(store, kept.encryptor, Date.now() - HOUR_MS).round()).toBe(0);
      expect(await rowsOf(target, BLOCKS)).toHaveLength(3);
      expect((await store.originals.find(keyOf("e1"), kept.encryptor))?.eventId).toBe("e1");
    }));

  it("many small blocks are merged before they are an hour old", () =>
    withStore(dialect, async (store, target) => {
      const kept = originalsKeeper();
      await keepEach(store, kept, names(8));
      const clock = { now: () => new Date(Date.now() - HOUR_MS) } as never;
      const merger = createOriginalMerger({ store, ...kept, clock, log, activeCallbacks: () => 0, blocksPerRead: 3 });
      expect(await merger.round()).toBe(2);
      expect((await rowsOf(target, BLOCKS)).map((row) => row.is_merged)).toEqual([1, 1, 0, 0]);
    }));

  it("blocks that are kept for other times stay apart", () =>
    withStore(dialect, async (store, target) => {
      const [day, week] = [originalsKeeper(), originalsKeeper({ keepMs: 7 * 24 * HOUR_MS })];
      await keepEach(store, day, ["e1", "e2"]);
      await keepEach(store, week, ["e3", "e4"]);
      expect(await mergerOf(store, day.encryptor).round()).toBe(2);
      await store.retention.sweep({
        callbacks: new Date(0),
        refusedRowsKept: 10,
        now: new Date(Date.now() + 26 * HOUR_MS),
      });
      expect(await rowsOf(target, BLOCKS)).toHaveLength(1);
      expect(await walked(store, week.encryptor)).toEqual(["e3", "e4"]);
    }));

  it("a block that was changed while it was merged is left as it is", () =>
    withStore(dialect, async (store, target) => {
      const kept = originalsKeeper();
      await keepEach(store, kept, names(3));
      const parts = await store.groupBlocks.oldest(10, new Date());
      const changed = { ...parts[1], encrypted: Buffer.from("older") } as (typeof parts)[number];
      const merged = Buffer.from("never stored");
      expect(await store.groupBlocks.merge([...parts.slice(0, 1), changed, ...parts.slice(2)], merged)).toBe(false);
      expect(await rowsOf(target, BLOCKS)).toHaveLength(3);
      expect(await walked(store, kept.encryptor)).toEqual(names(3));
    }));

  it("an erasure finds what is merged while it reads", () =>
    withStore(dialect, async (store) => {
      const kept = originalsKeeper();
      const body = Buffer.from(JSON.stringify({ customer: "cus_1" }));
      const receivedAt = new Date(Date.now() - 1.5 * HOUR_MS);
      const original = kept.keep("e0", { receivedAt, body });
      await runOnce(store, newRecord("e0"), async () => ({ result: {}, logEntry: logRow(), original }), committing());
      await keepEach(store, kept, ["e1", "e2"]);
      const { erasure } = store;
      let isMerged = false;
      /** Merges between the read of a block and its rewrite. */
      const meanwhile: Store["erasure"] = Object.create(erasure, {
        replaceOriginals: {
          value: async (...args: Parameters<typeof erasure.replaceOriginals>) => {
            if (!isMerged) expect(await mergerOf(store, kept.encryptor).round()).toBe(1);
            isMerged = true;
            return erasure.replaceOriginals(...args);
          },
        },
      });
      const parts = {
        encryptor: kept.encryptor,
        clock: systemClock,
        runLock: createRunLock(),
        sourcesByName: new Map(),
      };
      const dependencies = { store: { ...store, erasure: meanwhile }, ...parts } as never;
      await erasePayloads({ path: "customer", value: "cus_1" }, { isDryRun: false }, dependencies);
      expect(isMerged).toBe(true);
      const found = await store.originals.find(keyOf("e0"), kept.encryptor);
      expect(Buffer.from(found?.body ?? []).toString()).not.toContain("cus_1");
      expect((await store.originals.find(keyOf("e2"), kept.encryptor))?.body.toString()).toContain("e2");
    }));

  it("a block whose key is missing is left as it is, and the others are merged", () =>
    withStore(dialect, async (store, target) => {
      const [kept, other] = [originalsKeeper(), originalsKeeper({ encryptor: createEncryptor(Buffer.alloc(32, 8)) })];
      await keepEach(store, kept, ["e1"]);
      await keepEach(store, other, ["e2"]);
      await keepEach(store, kept, ["e3"]);
      expect(await mergerOf(store, kept.encryptor).round()).toBe(2);
      expect(await rowsOf(target, BLOCKS)).toMatchObject([{ is_merged: 1 }, { is_merged: 1 }]);
      expect((await store.originals.find(keyOf("e2"), other.encryptor))?.eventId).toBe("e2");
      expect((await store.originals.find(keyOf("e3"), kept.encryptor))?.eventId).toBe("e3");
    }));

  it("blocks from before the clock was set back keep none behind them from being merged", () =>
    withStore(dialect, async (store, target) => {
      const kept = originalsKeeper();
      await keepEach(store, kept, ["f1", "f2", "f3"], new Date(Date.now() + 24 * HOUR_MS));
      await keepEach(store, kept, ["e0", "e1"]);
      const clock = { now: () => new Date() } as never;
      const merger = createOriginalMerger({ store, ...kept, clock, log, activeCallbacks: () => 0, blocksPerRead: 3 });
      expect(await merger.round()).toBe(1);
      expect((await rowsOf(target, BLOCKS)).map((row) => row.is_merged)).toEqual([0, 0, 0, 1]);
      expect((await store.originals.find(keyOf("f2"), kept.encryptor))?.eventId).toBe("f2");
      expect((await store.originals.find(keyOf("e0"), kept.encryptor))?.eventId).toBe("e0");
    }));

  it("what came within a minute is not merged: on PostgreSQL an earlier id may still appear", () =>
    withStore(dialect, async (store) => {
      const kept = originalsKeeper();
      await keepEach(store, kept, names(2));
      expect(await mergerOf(store, kept.encryptor, Date.now() - 1.5 * HOUR_MS + MINUTE_MS / 2).round()).toBe(0);
    }));
});
