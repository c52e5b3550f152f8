import { describe, expect, it } from "vitest";
import type { Lease, Store } from "../../src/store/index.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { newFailure } from "../support/failure.ts";
import { recoveryAt } from "../support/recovery.ts";

const T0 = new Date("2026-01-01T00:00:00.000Z");
const at = (seconds: number) => new Date(T0.getTime() + seconds * 1000);
const LEASE_SECONDS = 30;
const key = (eventId: string) => ({ source: "shop", eventId });
const lease = (owner: string, seconds: number): Lease => ({
  owner,
  now: at(seconds),
  until: at(seconds + LEASE_SECONDS),
});
const recover = ({ failureLeases }: Store, seconds: number) =>
  failureLeases.recover(recoveryAt(at(seconds), LEASE_SECONDS * 1_000));
const leaseAccepted = async ({ failureLeases }: Store, owner: string, seconds: number) =>
  (await leasedIds(failureLeases, owner, seconds)).sort();
const leasedIds = async (leases: Store["failureLeases"], owner: string, seconds: number) =>
  (await leases.leaseDue(lease(owner, seconds), { state: "accepted", source: "shop", limit: 9 })).map(
    ({ eventId }) => eventId,
  );

async function accept({ failures }: Store, eventId: string, runAt: number, now = T0): Promise<void> {
  await failures.accept({ ...newFailure(key(eventId), null), nextAttemptAt: at(runAt) }, now);
}

describe.each(DIALECTS)("accepted events on %s", (dialect) => {
  it("accepted events are leased in the order in which they arrived, also those of one millisecond", () =>
    withStore(dialect, async (store) => {
      const ids = ["e5", "e1", "e4", "e2", "e9", "e3", "e8", "e7", "e6"];
      for (const id of ids) await accept(store, id, 0);
      expect(await leasedIds(store.failureLeases, "a", 0)).toEqual(ids);
    }));
});

describe.each(DIALECTS)("an accepted event on %s whose process ended during its attempt", (dialect) => {
  it("an accepted event runs beside others again, at once, after the first process end", () =>
    withStore(dialect, async (store) => {
      for (const id of ["e1", "e2"]) await accept(store, id, 0);
      expect(await leaseAccepted(store, "ended", 0)).toEqual(["e1", "e2"]);
      expect(await recover(store, LEASE_SECONDS)).toMatchObject([
        { kind: "accepted", state: "accepted", crashes: 1 },
        { kind: "accepted", state: "accepted", crashes: 1 },
      ]);
      expect(await store.failureLeases.isSuspectDue(at(9_999))).toBe(false);
      expect(await leaseAccepted(store, "b", LEASE_SECONDS)).toEqual(["e1", "e2"]);
      expect(await store.failures.get(key("e1"))).toMatchObject({ attempts: 2, retriesDone: 0 });
      const [first] = await store.attempts.list(key("e1"), { after: 0, limit: 9 });
      expect(first).toMatchObject({ trigger: "accepted", outcome: "process_ended" });
    }));

  it("an accepted event is a suspect, and runs alone, after the second process end", () =>
    withStore(dialect, async (store) => {
      await accept(store, "e1", 0);
      await leaseAccepted(store, "ended", 0);
      await recover(store, 30);
      await leaseAccepted(store, "ended", 30);
      expect(await recover(store, 60)).toMatchObject([{ state: "waiting", crashes: 2 }]);
      expect(await leaseAccepted(store, "b", 9_999)).toEqual([]);
      expect(await store.failureLeases.leaseSuspect(lease("b", 90))).toMatchObject({ eventId: "e1" });
    }));

  it("an event that ended its processes runs alone when its platform delivers it again", () =>
    withStore(dialect, async (store) => {
      await accept(store, "e1", 0);
      for (const seconds of [0, 100]) {
        await leaseAccepted(store, "ended", seconds);
        await recover(store, seconds + LEASE_SECONDS);
      }
      for (const seconds of [200, 300, 400]) {
        await store.failureLeases.leaseSuspect(lease("ended", seconds));
        await recover(store, seconds + LEASE_SECONDS);
      }
      expect(await store.failures.get(key("e1"))).toMatchObject({ state: "exhausted" });
      await accept(store, "e1", 500, at(500));
      expect(await leaseAccepted(store, "b", 500)).toEqual([]);
      expect(await store.failureLeases.leaseSuspect(lease("b", 500))).toMatchObject({
        eventId: "e1",
        retriesDone: 1,
      });
    }));
});

const ofKey = (eventId: string, orderKey: string, source = "shop") => ({
  ...newFailure({ source, eventId }, null),
  nextAttemptAt: T0,
  orderKey,
});

describe.each(DIALECTS)("the waiting events of several sources on %s", (dialect) => {
  it("each source with due events is found once, in order, however many it has", () =>
    withStore(dialect, async ({ failures, failureLeases }) => {
      for (const source of ["shop/b", "shop/a", "billing"])
        for (const id of ["e1", "e2", "e3"])
          await failures.accept({ ...ofKey(id, "", source), nextAttemptAt: at(source === "billing" ? 60 : 0) }, T0);
      const due = (after: string, seconds: number, limit = 9) =>
        failureLeases.dueSources("accepted", after, at(seconds), limit);
      expect(await due("", 0)).toEqual(["shop/a", "shop/b"]);
      expect(await due("", 60)).toEqual(["billing", "shop/a", "shop/b"]);
      expect(await due("", 60, 2)).toEqual(["billing", "shop/a"]);
      expect(await due("shop/a", 60)).toEqual(["shop/b"]);
      expect(await failureLeases.dueSources("waiting", "", at(60), 9)).toEqual([]);
      await failureLeases.leaseDue(lease("a", 0), { state: "accepted", source: "shop/a", limit: 3 });
      expect(await due("", 0)).toEqual(["shop/b"]);
    }));

  it("a poller leases only the first of the events with one `orderBy`, and the next one once it has ended", () =>
    withStore(dialect, async (store) => {
      const { failures, failureLeases } = store;
      for (const id of ["e1", "e2", "e3"]) await failures.accept(ofKey(id, "order o1"), T0);
      await failures.accept(ofKey("other", "order o2"), T0);
      await failures.accept(ofKey("elsewhere", "order o1", "shop/b"), T0);
      await accept(store, "free", 0);
      expect(await leasedIds(failureLeases, "a", 0)).toEqual(["e1", "other", "free"]);
      expect(await leasedIds(failureLeases, "b", 0)).toEqual([]);
      await failures.remove(key("e1"));
      expect(await leasedIds(failureLeases, "c", 0)).toEqual(["e2"]);
    }));

  it("an event that its callback runs on is leased by no poller, and is due at once where that process has ended", () =>
    withStore(dialect, async (store) => {
      await store.failures.accept({ ...ofKey("e1", ""), lease: lease("callback", 0) }, T0);
      expect(await leaseAccepted(store, "a", 1)).toEqual([]);
      await store.leases.expireAll(at(2));
      expect(await recover(store, 2)).toEqual([]);
      expect(await leaseAccepted(store, "a", 2)).toEqual(["e1"]);
      expect(await store.failures.get(key("e1"))).toMatchObject({
        state: "accepted",
        crashes: 0,
        attempts: 1,
      });
    }));
});

describe.each(DIALECTS)("a clock on %s that was set back", (dialect) => {
  it("an accepted event is due at the latest after one lease from now", () =>
    withStore(dialect, async (store) => {
      await accept(store, "e1", 7_200);
      await accept(store, "e2", LEASE_SECONDS);
      await recover(store, 0);
      expect(await leaseAccepted(store, "a", LEASE_SECONDS)).toEqual(["e1", "e2"]);
    }));
});
