import { describe, expect, it } from "vitest";
import { type BackfilledEvent, NO_BACKFILL_COUNTS, type Store } from "../../src/store/index.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { committing, newRecord, rowsOf } from "../support/effects.ts";
import { newFailure } from "../support/failure.ts";
import { runOnce } from "../support/once.ts";

const T0 = new Date("2026-01-02T03:04:05.678Z");
const at = (seconds: number) => new Date(T0.getTime() + seconds * 1_000);
const lease = (owner: string, seconds = 0) => ({ owner, now: at(seconds), until: at(seconds + 60) });
const ASKED = {
  ...{ handler: "shop#audit", eventType: null, since: "2026-01-01T00:00:00.000Z" },
  ...{ includesFormer: false, perSecond: 10, createdBy: "token" },
};
const eventOf = (eventId: string): BackfilledEvent => ({
  ...{ source: "shop#audit", eventId, eventType: "order", version: "v1", bodySha256: "hash" },
  ...{ encryptedBody: Buffer.from("sealed"), receivedAt: at(-60) },
});
const after = { phase: "originals", after: { block: 7, index: 3 } } as const;
const progress = (accepted: ReadonlySet<string>) => ({
  position: after,
  counts: { ...NO_BACKFILL_COUNTS, accepted: accepted.size, acceptedByType: { order: accepted.size } },
});
const accept = (store: Store, id: number, owner: string, events: readonly BackfilledEvent[]) =>
  store.backfills.accept({ id, owner, until: at(60) }, events, progress, at(1));

describe.each(DIALECTS)("backfills on %s", (dialect) => {
  it("a backfill is stored as it was asked for, and listed, newest first", () =>
    withStore(dialect, async ({ backfills }) => {
      const first = await backfills.create(ASKED, T0);
      const second = await backfills.create({ ...ASKED, eventType: "order", includesFormer: true }, at(1));
      expect(await backfills.get(first.id)).toEqual({
        ...{ ...ASKED, id: first.id, state: "running", position: { phase: "stored" }, counts: NO_BACKFILL_COUNTS },
        ...{ startedAt: T0.toISOString(), endedAt: null },
      });
      expect((await backfills.list({ limit: 10 })).map(({ id, includesFormer }) => [id, includesFormer])).toEqual([
        [second.id, true],
        [first.id, false],
      ]);
      expect((await backfills.list({ limit: 10, before: second.id })).map(({ id }) => id)).toEqual([first.id]);
      expect(await backfills.get(99)).toBeUndefined();
    }));

  it("a backfill of the same handler and type is not started before the first pass of another one is over", () =>
    withStore(dialect, async (store) => {
      const { backfills } = store;
      const start = (over: object, seconds = 1) => backfills.start({ ...ASKED, ...over }, at(seconds));
      const first = await backfills.start({ ...ASKED, eventType: "order" }, T0, lease("a"));
      expect(first.isNew).toBe(true);
      const { id } = first.backfill;
      for (const over of [{}, { handler: "shop" }, { eventType: "order" }])
        expect(await start(over)).toMatchObject({ isNew: false, backfill: { id } });
      await backfills.change(id, "paused", at(2));
      expect(await start({})).toMatchObject({ isNew: false, backfill: { id, state: "paused" } });
      await backfills.change(id, "running", at(3));
      for (const over of [{ eventType: "refund" }, { handler: "shop#crm" }, { handler: "shopping" }])
        expect((await start(over)).isNew).toBe(true);
      const late = { position: { phase: "late" }, counts: NO_BACKFILL_COUNTS } as const;
      await backfills.accept({ id, owner: "a", until: at(60) }, [], () => late, at(4));
      expect((await start({ eventType: "order" })).isNew).toBe(true);
    }));

  it("one of many backfills that start at once is new", () =>
    withStore(dialect, async ({ backfills }) => {
      const started = await Promise.all(Array.from({ length: 8 }, () => backfills.start(ASKED, T0)));
      expect(started.filter(({ isNew }) => isNew)).toHaveLength(1);
      expect(await backfills.list({ limit: 10 })).toHaveLength(1);
    }));

  it("one process at a time has the lease of a backfill, and another one after its end or release", () =>
    withStore(dialect, async ({ backfills }) => {
      const { id } = await backfills.create(ASKED, T0, lease("command"));
      expect(await backfills.lease(lease("a", 1))).toBeUndefined();
      expect((await backfills.lease(lease("a", 61)))?.id).toBe(id);
      expect(await backfills.lease(lease("b", 62))).toBeUndefined();
      await backfills.release(id, "b");
      expect(await backfills.lease(lease("b", 62))).toBeUndefined();
      await backfills.release(id, "a");
      expect((await backfills.lease(lease("b", 62)))?.id).toBe(id);
    }));

  it("events are accepted with the position that follows them, and those that have a record or a failure stay", () =>
    withStore(dialect, async (store, target) => {
      const { id } = await store.backfills.create(ASKED, T0, lease("a"));
      const handled = { ...newRecord("handled"), source: "shop#audit" };
      await runOnce(store, handled, async () => ({ result: {} }), committing());
      await store.failures.record(newFailure({ source: "shop#audit", eventId: "failed" }, null), T0);
      const events = ["new", "handled", "failed", "newer"].map(eventOf);
      const advanced = await accept(store, id, "a", events);
      expect(advanced).toMatchObject({ position: after, counts: { accepted: 2, acceptedByType: { order: 2 } } });
      const stored = await rowsOf(target, "SELECT event_id, state FROM oncehook_failures ORDER BY id");
      expect(stored.map(({ event_id, state }) => [event_id, state])).toEqual([
        ["failed", "exhausted"],
        ["new", "accepted"],
        ["newer", "accepted"],
      ]);
      const failure = await store.failures.get({ source: "shop#audit", eventId: "new" });
      expect(failure?.firstFailedAt).toBe(at(-60).toISOString());
      // The same part once more.
      expect((await accept(store, id, "a", events))?.counts.accepted).toBe(0);
    }));

  it("a process that has lost the lease accepts nothing and moves no position", () =>
    withStore(dialect, async (store, target) => {
      const { id } = await store.backfills.create(ASKED, T0, lease("a"));
      expect(await accept(store, id, "b", [eventOf("e1")])).toBeUndefined();
      expect(await rowsOf(target, "SELECT 1 AS one FROM oncehook_failures")).toEqual([]);
      expect((await store.backfills.get(id))?.position).toEqual({ phase: "stored" });
    }));

  it("an operator pauses, resumes and cancels a backfill, and the next step of its process sees it", () =>
    withStore(dialect, async (store) => {
      const { backfills } = store;
      const { id } = await backfills.create(ASKED, T0, lease("a"));
      expect(await backfills.change(id, "paused", at(1))).toMatchObject({ state: "paused" });
      expect((await accept(store, id, "a", []))?.state).toBe("paused");
      expect(await backfills.finish(id, "a", at(2))).toBeUndefined();
      await backfills.release(id, "a");
      expect(await backfills.lease(lease("b", 2))).toBeUndefined();
      expect(await backfills.change(id, "running", at(3))).toMatchObject({ state: "running" });
      expect((await backfills.lease(lease("b", 3)))?.id).toBe(id);
      expect(await backfills.change(id, "cancelled", at(4))).toMatchObject({ endedAt: at(4).toISOString() });
      expect(await backfills.change(id, "running", at(5))).toBe("ended");
      expect(await backfills.change(99, "running", at(5))).toBe("absent");
    }));

  it("a backfill that is not due is leased only then, and one that is done is not leased again", () =>
    withStore(dialect, async ({ backfills }) => {
      const { id } = await backfills.create(ASKED, T0, lease("a"));
      const second = () => ({ position: { phase: "late" }, counts: NO_BACKFILL_COUNTS, dueAt: at(30) }) as const;
      await backfills.accept({ id, owner: "a", until: at(60) }, [], second, at(1));
      await backfills.release(id, "a");
      expect(await backfills.lease(lease("b", 29))).toBeUndefined();
      expect(await backfills.lease(lease("b", 30))).toMatchObject({ id, position: { phase: "late" } });
      expect(await backfills.finish(id, "b", at(31))).toMatchObject({ state: "done", endedAt: at(31).toISOString() });
      expect(await backfills.lease(lease("b", 99))).toBeUndefined();
    }));

  it("the keys of events are found by their ids, records and failures apart", () =>
    withStore(dialect, async (store) => {
      await runOnce(store, { ...newRecord("e1"), source: "shop" }, async () => ({ result: {} }), committing());
      await runOnce(store, { ...newRecord("e1"), source: "shop#audit" }, async () => ({ result: {} }), committing());
      await store.failures.record(newFailure({ source: "shop", eventId: "e2" }, null), T0);
      const keys = await store.backfills.keysOf(["e1", "e2", "e3", "e1"]);
      expect(keys.toSorted((one, other) => one.source.localeCompare(other.source) || 0)).toEqual(
        expect.arrayContaining([
          { source: "shop", eventId: "e1", isHandled: true },
          { source: "shop#audit", eventId: "e1", isHandled: true },
          { source: "shop", eventId: "e2", isHandled: false },
        ]),
      );
      expect(keys).toHaveLength(3);
      expect(await store.backfills.keysOf([])).toEqual([]);
      expect(await store.backfills.waiting(5)).toBe(0);
    }));
});
