import { describe, expect, it } from "vitest";
import type { EventReplay, Lease, Store } from "../../src/store/index.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { committing, newRecord } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { runOnce } from "../support/once.ts";
import { until } from "../support/until.ts";

const now = () => new Date();
const lease = (owner: string): Lease => ({ owner, now: now(), until: new Date(Date.now() + 30_000) });

async function handle(store: Store, eventId: string, over: Parameters<typeof newRecord>[1] = {}): Promise<void> {
  await runOnce(store, newRecord(eventId, over), async () => ({ result: {} }), committing());
}

const replayed = (store: Store, eventId: string, replaces: EventReplay) =>
  runOnce(store, newRecord(eventId), async () => ({ result: {} }), { ...committing(), replaces });

const start = (store: Store, filter: object = {}) =>
  store.bulkReplays.create(
    {
      scope: "events",
      filter: { source: "platform", ...filter },
      reason: "the tax was wrong",
      perSecond: 10,
      createdBy: "token",
    },
    now(),
  );
const ofBulk = (id: number): EventReplay => ({ replay: `bulk:${id}`, actor: "token", reason: "r" });
const idsOf = (events: readonly { readonly eventId: string }[]) => events.map(({ eventId }) => eventId);
const unrun = (eventId: string, kind: "failed" | "skipped" = "failed") =>
  ({ source: "platform", eventId, eventType: "t", kind, code: "handler_failed", error: "down" }) as const;

describe.each(DIALECTS)("bulk replays of handled events on %s", (dialect) => {
  it("a bulk replay counts and visits the handled events of its source and type, in the order of their records", () =>
    withStore(dialect, async (store) => {
      for (const id of ["e1", "e2"]) await handle(store, id);
      await handle(store, "other", { source: "stripe" });
      await handle(store, "typed", { eventType: "refund" });
      await handle(store, "e3");
      const bulk = await start(store, { eventType: "payment_notify" });
      expect(bulk).toMatchObject({ scope: "events", reason: "the tax was wrong", total: 3, skipped: 0, atWork: null });
      await handle(store, "later");
      expect(idsOf(await store.handledEvents.next(bulk, 2, now()))).toEqual(["e1", "e2"]);
      expect(idsOf(await store.handledEvents.next(bulk, 9, now()))).toEqual(["e1", "e2", "e3"]);
    }));

  it("a bulk replay visits events that were handled before the clock was set back, and none that came after its start", () =>
    withStore(dialect, async (store, target) => {
      for (const id of ["e1", "e2"]) await handle(store, id);
      await execute(target, "UPDATE oncehook_records SET created_at = '2099-01-01T00:00:00.000Z'");
      for (const id of ["e3", "e4"]) await handle(store, id);
      const bulk = await start(store);
      // SQLite gives the id of the deleted one to the next.
      await execute(target, "DELETE FROM oncehook_records WHERE event_id = 'e4'");
      await until(() => now().toISOString() > bulk.startedAt);
      await handle(store, "later");
      expect(idsOf(await store.handledEvents.next(bulk, 9, now()))).toEqual(["e1", "e2", "e3"]);
      await execute(target, "DELETE FROM oncehook_records WHERE event_id IN ('e3', 'later')");
      expect(idsOf(await store.handledEvents.next(bulk, 9, now()))).toEqual(["e1", "e2"]);
    }));

  it("a source stands for those of its tenants, and not for its named handlers", () =>
    withStore(dialect, async (store) => {
      for (const source of ["shops/acme", "shops/best", "shops/acme#audit", "shops#audit", "shopsmore", "shops"])
        await handle(store, source, { source });
      expect(idsOf(await store.handledEvents.next(await start(store, { source: "shops" }), 9, now()))).toEqual([
        "shops/acme",
        "shops/best",
        "shops",
      ]);
      const named = await start(store, { source: "shops/acme#audit" });
      expect(idsOf(await store.handledEvents.next(named, 9, now()))).toEqual(["shops/acme#audit"]);
    }));

  it("a time finds the events that were handled in it", () =>
    withStore(dialect, async (store, target) => {
      for (let index = 1; index <= 9; index += 1) {
        await handle(store, `e${index}`);
        const at = `'2026-01-0${index}T00:00:00.000Z'`;
        await execute(target, `UPDATE oncehook_records SET created_at = ${at} WHERE event_id = 'e${index}'`);
      }
      const filter = { from: "2026-01-03T00:00:00.000Z", to: "2026-01-06T00:00:00.000Z" };
      const bulk = await start(store, filter);
      expect(bulk.total).toBe(3);
      expect(idsOf(await store.handledEvents.next(bulk, 9, now()))).toEqual(["e3", "e4", "e5"]);
      expect((await start(store, { from: "2027-01-01T00:00:00.000Z" })).total).toBe(0);
    }));

  it("a bulk replay visits no event again that it has run or noted", () =>
    withStore(dialect, async (store) => {
      for (const id of ["e1", "e2", "e3", "e4"]) await handle(store, id);
      const bulk = await start(store);
      await replayed(store, "e1", ofBulk(bulk.id));
      await replayed(store, "e2", { replay: "another", actor: "token", reason: "r" });
      await store.handledEvents.noteUnreplayed(bulk.id, unrun("e3"), now());
      expect(idsOf(await store.handledEvents.next(bulk, 9, now()))).toEqual(["e2", "e4"]);
    }));

  it("an event that was not run is noted and counted once", () =>
    withStore(dialect, async (store) => {
      const bulk = await start(store);
      for (let time = 0; time < 2; time += 1) await store.handledEvents.noteUnreplayed(bulk.id, unrun("e1"), now());
      await store.handledEvents.noteUnreplayed(bulk.id, unrun("e2", "skipped"), now());
      expect(await store.bulkReplays.get(bulk.id)).toMatchObject({ failed: 1, skipped: 1 });
      expect(idsOf(await store.handledEvents.unreplayed(bulk.id, undefined, { limit: 9 }))).toEqual(["e2", "e1"]);
      expect(idsOf(await store.handledEvents.unreplayed(bulk.id, "failed", { limit: 9 }))).toEqual(["e1"]);
    }));

  it("an erasure removes the errors of an event that was not run", () =>
    withStore(dialect, async (store) => {
      const { id } = await start(store);
      for (const eventId of ["e1", "e2"]) await store.handledEvents.noteUnreplayed(id, unrun(eventId), now());
      await store.erasure.eraseTraces({ source: "platform", eventId: "e1" }, "down");
      const listed = await store.handledEvents.unreplayed(id, undefined, { limit: 9 });
      expect(listed.map(({ error }) => error)).toEqual(["down", "[erased]"]);
    }));

  it("retention deletes the events that were not run with the callback log", () =>
    withStore(dialect, async (store) => {
      const { id } = await start(store);
      await store.handledEvents.noteUnreplayed(id, unrun("e1"), now());
      const limits = { refusedRowsKept: 0, now: now() };
      const left = async () => (await store.handledEvents.unreplayed(id, undefined, { limit: 9 })).length;
      await store.retention.sweep({ ...limits, callbacks: new Date(Date.now() - 60_000) });
      expect(await left()).toBe(1);
      await store.retention.sweep({ ...limits, callbacks: new Date(Date.now() + 60_000) });
      expect(await left()).toBe(0);
    }));

  it("the end of a bulk replay counts what it has run exactly, although its process did not", () =>
    withStore(dialect, async (store) => {
      for (const id of ["e1", "e2", "e3"]) await handle(store, id);
      const { id } = await start(store);
      await store.bulkReplays.lease(lease("a"));
      for (const one of ["e1", "e2"]) await replayed(store, one, ofBulk(id));
      await store.handledEvents.noteUnreplayed(id, unrun("e3"), now());
      expect(await store.bulkReplays.finish(id, "a", now())).toMatchObject({
        state: "done",
        succeeded: 2,
        failed: 1,
        alreadyHandled: 0,
      });
    }));

  it("the events of a batch are known to the process that continues after its end, and not after a release", () =>
    withStore(dialect, async (store) => {
      const { id } = await start(store);
      await store.bulkReplays.lease(lease("a"));
      await store.bulkReplays.beginBatch(id, "a", { ids: [1, 2], ends: 0 });
      expect((await store.bulkReplays.get(id))?.atWork).toEqual({ ids: [1, 2], ends: 0 });
      await store.bulkReplays.advance(id, "a", { afterId: 2, succeeded: 2, alreadyHandled: 0 }, now());
      expect((await store.bulkReplays.get(id))?.atWork).toBeNull();
      await store.bulkReplays.beginBatch(id, "a", { ids: [3], ends: 1 });
      await store.bulkReplays.beginBatch(id, "another", { ids: [4], ends: 0 });
      expect((await store.bulkReplays.get(id))?.atWork).toEqual({ ids: [3], ends: 1 });
      await store.bulkReplays.release(id, "a");
      expect((await store.bulkReplays.get(id))?.atWork).toBeNull();
    }));
});
