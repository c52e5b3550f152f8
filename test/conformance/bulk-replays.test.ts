import { describe, expect, it } from "vitest";
import type { Lease, NewFailure, Store } from "../../src/store/index.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { newFailure } from "../support/failure.ts";

const T0 = new Date("2026-01-01T00:00:00.000Z");
const at = (seconds: number) => new Date(T0.getTime() + seconds * 1000);
const lease = (owner: string, now: Date, seconds = 30): Lease => ({
  owner,
  now,
  until: new Date(now.getTime() + seconds * 1000),
});
const key = (eventId: string) => ({ source: "platform", eventId });
const NOTHING = { succeeded: 0, alreadyHandled: 0, failed: 0 };

async function fail(store: Store, eventId: string, over: Partial<NewFailure> = {}, now = T0): Promise<void> {
  await store.failures.record(newFailure(key(eventId), null, over), now);
}

const begin = (store: Store, filter = {}, perSecond = 10) =>
  store.bulkReplays.create({ filter, perSecond, createdBy: "token" }, at(10));
const idsOf = (due: readonly { eventId: string }[]) => due.map(({ eventId }) => eventId);

describe.each(DIALECTS)("bulk replays on %s", (dialect) => {
  it("bulk replays count at the start what the filter finds, and are listed newest first", () =>
    withStore(dialect, async (store) => {
      await fail(store, "e1");
      await fail(store, "e2", { nextAttemptAt: at(60) });
      await fail(store, "e3", { code: "handler_timed_out" });
      const filter = { state: "exhausted", source: "platform", eventType: "payment_notify" } as const;
      const bulk = await begin(store, filter, 7);
      expect(bulk).toMatchObject({
        filter,
        perSecond: 7,
        createdBy: "token",
        state: "running",
        total: 2,
        ...NOTHING,
        startedAt: at(10).toISOString(),
        endedAt: null,
      });
      expect((await begin(store)).total).toBe(3);
      expect((await begin(store, { code: "handler_timed_out" })).total).toBe(1);
      expect((await begin(store, { eventType: "none" })).total).toBe(0);
      const listed = await store.bulkReplays.list({ limit: 2 });
      expect(listed.map(({ total }) => total)).toEqual([0, 1]);
      const older = await store.bulkReplays.list({ limit: 9, before: listed[1]!.id });
      expect(older.map(({ total }) => total)).toEqual([3, 2]);
      expect(await store.bulkReplays.get(bulk.id)).toEqual(bulk);
      expect(await store.bulkReplays.get(999)).toBeUndefined();
    }));

  it("a bulk replay visits the failures of both states by id, and only those of its filter", () =>
    withStore(dialect, async (store) => {
      for (const id of ["e1", "e3", "e5"]) await fail(store, id);
      for (const id of ["e2", "e4"]) await fail(store, id, { nextAttemptAt: at(60) });
      await fail(store, "e6", { source: "oauth" });
      const bulk = await begin(store, { source: "platform" });
      const first = await store.bulkReplays.next(bulk, 3);
      expect(idsOf(first)).toEqual(["e1", "e3", "e5"]);
      const rest = await store.bulkReplays.next({ ...bulk, afterId: first.at(-1)!.id }, 3);
      expect(idsOf(rest)).toEqual(["e2", "e4"]);
    }));

  it("a bulk replay does not touch later failures, even one that reuses a deleted id", () =>
    withStore(dialect, async (store) => {
      for (const id of ["e1", "e2"]) await fail(store, id);
      const bulk = await begin(store);
      await store.failures.remove(key("e2"));
      for (const id of ["later", "latest"]) await fail(store, id, {}, at(11));
      expect(idsOf(await store.bulkReplays.next(bulk, 9))).toEqual(["e1"]);
    }));

  it("a bulk replay gets no failure again that it has tried, but another bulk replay does", () =>
    withStore(dialect, async (store) => {
      for (const id of ["e1", "e2", "e3"]) await fail(store, id);
      const bulk = await begin(store);
      const other = await begin(store);
      await store.failureLeases.leaseOne(key("e1"), lease("a", T0));
      const again = {
        kind: "replay",
        code: "handler_failed",
        error: "2",
        now: T0,
        nextAttemptAt: null,
      } as const;
      await store.failureLeases.reschedule(key("e1"), "a", { ...again, bulkReplayId: bulk.id });
      await store.failureLeases.leaseOne(key("e2"), lease("a", T0));
      await store.failureLeases.release(key("e2"), "a", undefined, bulk.id);
      expect(idsOf(await store.bulkReplays.next(bulk, 9))).toEqual(["e3"]);
      expect(idsOf(await store.bulkReplays.next(other, 9))).toEqual(["e1", "e2", "e3"]);
      expect(await store.bulkReplays.get(bulk.id)).toMatchObject({ ...NOTHING, failed: 2 });
      expect(await store.bulkReplays.get(other.id)).toMatchObject(NOTHING);
    }));

  it("a bulk replay skips what a later one has tried, and neither undoes the other's notes", () =>
    withStore(dialect, async (store) => {
      for (const id of ["e1", "e2"]) await fail(store, id);
      const earlier = await begin(store);
      const later = await begin(store);
      const tried = async (id: string, bulk: number) => {
        await store.failureLeases.leaseOne(key(id), lease("a", T0));
        await store.failureLeases.release(key(id), "a", undefined, bulk);
      };
      await tried("e1", earlier.id);
      await tried("e1", later.id);
      expect(idsOf(await store.bulkReplays.next(earlier, 9))).toEqual(["e2"]);
      expect(idsOf(await store.bulkReplays.next(later, 9))).toEqual(["e2"]);
    }));

  it("a bulk replay does not count a failure whose lease was lost to another owner", () =>
    withStore(dialect, async (store) => {
      await fail(store, "e1");
      const { id: bulkReplayId } = await begin(store);
      await store.failureLeases.leaseOne(key("e1"), lease("b", T0));
      const again = {
        kind: "replay",
        code: "handler_failed",
        error: "2",
        now: T0,
        nextAttemptAt: null,
        bulkReplayId,
      } as const;
      await store.failureLeases.reschedule(key("e1"), "a", again);
      await store.failureLeases.release(key("e1"), "a", undefined, bulkReplayId);
      expect(await store.bulkReplays.get(bulkReplayId)).toMatchObject(NOTHING);
    }));

  it("a bulk replay has one owner at a time, and another takes it over after the lease", () =>
    withStore(dialect, async ({ bulkReplays }) => {
      const asked = { filter: {}, perSecond: 1, createdBy: "token" };
      const [first, second] = [await bulkReplays.create(asked, T0), await bulkReplays.create(asked, T0)];
      expect(await bulkReplays.lease(lease("a", at(0)))).toMatchObject({ id: first.id });
      expect(await bulkReplays.lease(lease("b", at(0)))).toMatchObject({ id: second.id });
      expect(await bulkReplays.lease(lease("c", at(29)))).toBeUndefined();
      const progress = { afterId: 5, succeeded: 1, alreadyHandled: 1 };
      expect(await bulkReplays.advance(first.id, "a", progress, at(60))).toMatchObject(progress);
      expect(await bulkReplays.lease(lease("c", at(30)))).toMatchObject({ id: second.id });
      expect(await bulkReplays.advance(second.id, "b", progress, at(60))).toBeUndefined();
      expect(await bulkReplays.finish(second.id, "b", at(31))).toBeUndefined();
      expect(await bulkReplays.get(second.id)).toMatchObject({ ...NOTHING, state: "running" });
      expect(await bulkReplays.lease(lease("d", at(60)))).toMatchObject({ id: first.id, ...progress });
      await bulkReplays.release(first.id, "d");
      expect(await bulkReplays.lease(lease("e", at(60)))).toMatchObject({ id: first.id });
    }));

  it("one of many owners that ask at once leases a bulk replay", () =>
    withStore(dialect, async ({ bulkReplays }) => {
      await bulkReplays.create({ filter: {}, perSecond: 1, createdBy: "token" }, T0);
      const owners = Array.from({ length: 8 }, (_, index) => lease(`owner-${index}`, T0));
      const leased = await Promise.all(owners.map((one) => bulkReplays.lease(one)));
      expect(leased.filter((one) => one !== undefined)).toHaveLength(1);
    }));

  it("a bulk replay pauses, resumes and is cancelled, and an ended one does not change", () =>
    withStore(dialect, async ({ bulkReplays }) => {
      const { id } = await bulkReplays.create({ filter: {}, perSecond: 1, createdBy: "token" }, T0);
      expect(await bulkReplays.change(999, "paused", at(1))).toBe("absent");
      expect(await bulkReplays.change(id, "paused", at(1))).toMatchObject({ state: "paused", endedAt: null });
      expect(await bulkReplays.lease(lease("a", at(2)))).toBeUndefined();
      expect(await bulkReplays.change(id, "running", at(3))).toMatchObject({ state: "running" });
      await bulkReplays.lease(lease("a", at(4)));
      const cancelled = { state: "cancelled", endedAt: at(5).toISOString() };
      expect(await bulkReplays.change(id, "cancelled", at(5))).toMatchObject(cancelled);
      const under = { afterId: 1, succeeded: 1, alreadyHandled: 0 };
      expect(await bulkReplays.advance(id, "a", under, at(60))).toMatchObject({ ...cancelled, succeeded: 1 });
      expect(await bulkReplays.finish(id, "a", at(6))).toBeUndefined();
      for (const to of ["paused", "running", "cancelled"] as const)
        expect(await bulkReplays.change(id, to, at(7))).toBe("ended");
    }));

  it("a bulk replay ends as done, and counts events that were already handled", () =>
    withStore(dialect, async (store) => {
      for (const id of ["e1", "e2", "e3"]) await fail(store, id);
      const { id } = await begin(store);
      await store.bulkReplays.lease(lease("a", at(10)));
      await store.failureLeases.leaseOne(key("e2"), lease("a", at(10)));
      await store.failureLeases.release(key("e2"), "a", undefined, id);
      await store.bulkReplays.advance(id, "a", { afterId: 3, succeeded: 1, alreadyHandled: 0 }, at(50));
      expect(await store.bulkReplays.finish(id, "a", at(11))).toMatchObject({
        state: "done",
        endedAt: at(11).toISOString(),
        total: 3,
        succeeded: 1,
        alreadyHandled: 1,
        failed: 1,
      });
      expect(await store.bulkReplays.change(id, "paused", at(12))).toBe("ended");
    }));

  it("the retention job deletes old bulk replays except the newest, whose number must not be used again", () =>
    withStore(dialect, async (store) => {
      const bulks = [await begin(store), await begin(store), await begin(store)];
      for (const { id } of [bulks[0]!, bulks[2]!]) await store.bulkReplays.change(id, "cancelled", at(11));
      const limits = { callbacks: at(3_600), refusedRowsKept: 10, now: at(7_200) };
      expect(await store.retention.sweep(limits)).toMatchObject({ stale: 1 });
      const left = await store.bulkReplays.list({ limit: 9 });
      expect(left.map(({ id }) => id)).toEqual([bulks[2]!.id, bulks[1]!.id]);
    }));
});
