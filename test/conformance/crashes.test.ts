import { describe, expect, it } from "vitest";
import { fixedRetries } from "../../src/domain/index.ts";
import type { Lease, NewFailure, OnceScope, Store } from "../../src/store/index.ts";
import { DIALECTS, type Target, withStore } from "../support/databases.ts";
import { committing, newRecord } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { newFailure, retriesOf } from "../support/failure.ts";
import { withLock } from "../support/held-lock.ts";
import { runOnce } from "../support/once.ts";
import { recoveryAt } from "../support/recovery.ts";

const T0 = new Date("2026-01-01T00:00:00.000Z");
const at = (seconds: number) => new Date(T0.getTime() + seconds * 1000);
const LEASE_SECONDS = 30;
const POLICY = fixedRetries(3, 60);
const key = (eventId: string) => ({ source: "platform", eventId });
const lease = (owner: string, seconds: number): Lease => ({
  owner,
  now: at(seconds),
  until: at(seconds + LEASE_SECONDS),
});
const recover = ({ failureLeases }: Store, seconds: number, policy = POLICY) =>
  failureLeases.recover(recoveryAt(at(seconds), LEASE_SECONDS * 1_000, policy));

async function fail({ failures }: Store, eventId: string, over: Partial<NewFailure> = {}): Promise<void> {
  await failures.record(newFailure(key(eventId), at(60), over), T0);
}

describe.each(DIALECTS)("a failure on %s whose process ended during its attempt", (dialect) => {
  it("a failure counts its attempt when it is leased, and uncounts it when the lease is released", () =>
    withStore(dialect, async (store) => {
      await fail(store, "e1");
      const [leased] = await store.failureLeases.leaseDue(lease("a", 60), retriesOf(1));
      expect(leased).toMatchObject({ attempts: 2, retriesDone: 1 });
      await store.failureLeases.release(key("e1"), "a", at(61));
      expect(await store.failures.get(key("e1"))).toMatchObject({ attempts: 1, retriesDone: 0 });
      for (const [kind, attempts] of [
        ["replay", 2],
        ["bulk", 2],
        ["removal", 1],
      ] as const) {
        expect(await store.failureLeases.leaseOne(key("e1"), { ...lease("a", 61), kind })).toMatchObject({
          attempts,
        });
        await store.failureLeases.release(key("e1"), "a");
        // Only a retry has counted one.
        expect(await store.failures.get(key("e1"))).toMatchObject({ attempts: 1, retriesDone: 0 });
      }
    }));

  it("a failure is a suspect once its lease expires, and is leased alone after the delay", () =>
    withStore(dialect, async (store) => {
      await fail(store, "e1");
      await fail(store, "e2", { nextAttemptAt: at(130) });
      expect(await store.failureLeases.leaseDue(lease("ended", 60), retriesOf(10))).toHaveLength(1);
      expect(await recover(store, 89)).toEqual([]);
      expect(await store.failureLeases.leaseOne(key("e1"), lease("b", 90))).toBe("leased");
      expect(await recover(store, 90)).toMatchObject([{ eventId: "e1", kind: "retry", isAlone: false }]);
      expect(await recover(store, 90)).toEqual([]);
      // What is known of it stays: another event may have ended the process.
      expect(await store.failures.get(key("e1"))).toMatchObject({
        code: "handler_failed",
        retriesDone: 1,
        crashes: 1,
        leasedUntil: null,
        nextAttemptAt: at(120).toISOString(),
      });
      expect(await store.failureLeases.isSuspectDue(at(119))).toBe(false);
      expect(await store.failureLeases.leaseSuspect(lease("b", 119))).toBeUndefined();
      expect(
        (await store.failureLeases.leaseDue(lease("b", 130), retriesOf(10))).map(({ eventId }) => eventId),
      ).toEqual(["e2"]);
      expect(await store.failureLeases.isSuspectDue(at(130))).toBe(true);
      expect(await store.failureLeases.leaseSuspect(lease("b", 130))).toMatchObject({
        eventId: "e1",
        retriesDone: 2,
      });
      expect(await store.failureLeases.leaseSuspect(lease("b", 130))).toBeUndefined();
      // An attempt that came to its end clears it.
      const again = { kind: "retry", code: "handler_failed", error: "2", now: at(131) } as const;
      await store.failureLeases.reschedule(key("e1"), "b", { ...again, nextAttemptAt: at(191) });
      expect(await store.failures.get(key("e1"))).toMatchObject({
        crashes: 0,
        retriesDone: 2,
        attempts: 3,
      });
      expect(await store.failureLeases.leaseDue(lease("b", 191), retriesOf(10))).toHaveLength(1);
    }));

  it("a failure is exhausted after the allowed retries, with process_ended as its cause", () =>
    withStore(dialect, async (store) => {
      await fail(store, "e1");
      await store.failureLeases.leaseDue(lease("ended", 60), retriesOf(1));
      await recover(store, 90);
      for (const seconds of [120, 180]) {
        expect(await store.failureLeases.leaseSuspect(lease("ended", seconds))).toBeDefined();
        await recover(store, seconds + LEASE_SECONDS);
      }
      expect(await store.failures.get(key("e1"))).toMatchObject({
        state: "exhausted",
        code: "process_ended",
        error: expect.stringContaining("before that: handler_failed: down"),
        attempts: 4,
        retriesDone: 3,
        nextAttemptAt: null,
      });
      expect(await store.failureLeases.isSuspectDue(at(9_999))).toBe(false);
      const told = await store.attempts.list(key("e1"), { after: 0, limit: 9 });
      expect(told.map(({ trigger, outcome }) => [trigger, outcome])).toEqual(Array(3).fill(["retry", "process_ended"]));
      expect(told[0]).toMatchObject({ startedAt: at(60).toISOString() });
    }));

  it("a failure is never exhausted by an attempt that ran beside others", () =>
    withStore(dialect, async (store) => {
      await fail(store, "e1");
      await store.failureLeases.leaseDue(lease("ended", 60), retriesOf(1));
      await recover(store, 90, fixedRetries(1, 60));
      expect(await store.failures.get(key("e1"))).toMatchObject({
        state: "waiting",
        retriesDone: 0,
        attempts: 2,
      });
    }));

  it("a failure keeps its state after a replay, which counts as an attempt with its cause", () =>
    withStore(dialect, async (store) => {
      await fail(store, "e1", { nextAttemptAt: null });
      await store.failureLeases.leaseOne(key("e1"), lease("ended", 5));
      expect(await recover(store, 35)).toMatchObject([{ kind: "replay", state: "exhausted" }]);
      expect(await store.failures.get(key("e1"))).toMatchObject({
        state: "exhausted",
        code: "process_ended",
        attempts: 2,
        retriesDone: 0,
        crashes: 1,
      });
      expect(await store.failureLeases.leaseOne(key("e1"), lease("b", 36))).toMatchObject({ eventId: "e1" });
    }));

  it("a bulk replay leaves a failure alone after three process ends, and counts it once", () =>
    withStore(dialect, async (store) => {
      await fail(store, "e1", { nextAttemptAt: null });
      const bulk = await store.bulkReplays.create({ filter: {}, perSecond: 10, createdBy: "token" }, at(1));
      for (const [end, isAlone] of [false, true, true].entries()) {
        expect(await store.bulkReplays.next(bulk, 9)).toMatchObject([{ eventId: "e1", isSuspect: end > 0 }]);
        const of = { kind: "bulk", isAlone, bulkReplayId: bulk.id } as const;
        await store.failureLeases.leaseOne(key("e1"), { ...lease("ended", end * 100), ...of });
        await recover(store, end * 100 + LEASE_SECONDS);
      }
      expect(await store.bulkReplays.next(bulk, 9)).toEqual([]);
      expect((await store.bulkReplays.get(bulk.id))?.failed).toBe(1);
    }));

  it("the lease of a failure ends at once where its process is known to have ended", () =>
    withStore(dialect, async (store) => {
      await fail(store, "e1");
      await store.failureLeases.leaseDue(lease("ended", 60), retriesOf(1));
      await store.bulkReplays.create({ filter: {}, perSecond: 10, createdBy: "token" }, at(60));
      await store.bulkReplays.lease(lease("ended", 60));
      await store.leases.expireAll(at(61));
      expect(await recover(store, 61)).toHaveLength(1);
      expect(await store.bulkReplays.lease(lease("b", 61))).toBeDefined();
    }));
});

describe.each(DIALECTS)("a clock on %s that was set back", (dialect) => {
  it("a lease of a failure is shortened to one lease from now, and settled as expired", () =>
    withStore(dialect, async (store) => {
      await fail(store, "e1", { nextAttemptAt: at(3_600) });
      await store.failureLeases.leaseDue(lease("ended", 3_600), retriesOf(1));
      expect(await recover(store, 0)).toEqual([]);
      expect((await store.failures.get(key("e1")))?.leasedUntil).toBe(at(LEASE_SECONDS).toISOString());
      expect(await recover(store, LEASE_SECONDS)).toMatchObject([{ eventId: "e1" }]);
      expect((await store.failures.get(key("e1")))?.nextAttemptAt).toBe(at(90).toISOString());
    }));

  it("a retry is due at the latest after its delay from now", () =>
    withStore(dialect, async (store) => {
      await fail(store, "e1", { nextAttemptAt: at(7_200) });
      await fail(store, "e2", { nextAttemptAt: at(60) });
      await recover(store, 0);
      expect(
        (await store.failureLeases.leaseDue(lease("a", 60), retriesOf(9))).map(({ eventId }) => eventId).sort(),
      ).toEqual(["e1", "e2"]);
    }));
});

async function notify(store: Store, eventId: string): Promise<void> {
  const enqueued = async (scope: OnceScope) => {
    await scope.enqueue({ topic: "order.paid", payload: {} });
    return { result: {} };
  };
  await runOnce(store, newRecord(eventId), enqueued, committing());
}

const addTokens = (target: Target, userId: string, refreshAt: Date, updatedAt: Date) =>
  execute(
    target,
    `INSERT INTO oncehook_user_tokens (user_id, encrypted_tokens, expires_at, refresh_at, updated_at) VALUES ('${userId}',
      ${target.dialect === "sqlite" ? "x'01'" : "'\\x01'::bytea"}, '${refreshAt.toISOString()}', '${refreshAt.toISOString()}',
      '${updatedAt.toISOString()}')`,
  );

describe.each(DIALECTS)("a clock on %s that was set back", (dialect) => {
  it("a delivery is due and its lease over at the latest after its channel's lease", () =>
    withStore(dialect, async (store) => {
      const { outbox, notificationDeliveries: deliveries } = store;
      const leaseMs = LEASE_SECONDS * 1_000;
      const channels = ["webhook"];
      for (const id of ["e1", "e2", "e3"]) await notify(store, id);
      // An hour ahead: one is leased, one has failed and waits 20 seconds, one is fresh.
      await outbox.fanOut(channels, at(3_600), 9);
      const [held, failed] = await deliveries.leaseDue(channels, lease("ended", 3_600), 2);
      await deliveries.markFailed(failed?.id ?? 0, "ended", "down", at(3_620), at(3_600));
      expect(await deliveries.leaseDue(channels, lease("a", 0), 9)).toEqual([]);
      await deliveries.repairTimes(channels, leaseMs, at(0));
      expect(await deliveries.leaseDue(channels, lease("a", 0), 9)).toHaveLength(1);
      expect(await deliveries.leaseDue(channels, lease("a", 19), 9)).toEqual([]);
      expect(await deliveries.leaseDue(channels, lease("a", 20), 9)).toMatchObject([{ id: failed?.id }]);
      expect(await deliveries.leaseExpired(channels, lease("a", LEASE_SECONDS - 1))).toBeUndefined();
      expect(await deliveries.leaseExpired(channels, lease("a", LEASE_SECONDS))).toMatchObject({
        id: held?.id,
      });
    }));

  it("a bulk replay and a prepare step are leased for no longer than one lease from now", () =>
    withStore(dialect, async ({ bulkReplays, preparations }) => {
      await bulkReplays.create({ filter: {}, perSecond: 10, createdBy: "token" }, at(0));
      await bulkReplays.lease(lease("ended", 3_600));
      await preparations.claim(key("e1"), lease("ended", 3_600));
      expect(await bulkReplays.lease(lease("a", 0))).toBeUndefined();
      expect((await preparations.claim(key("e1"), lease("a", 0))).state).toBe("leased");
      expect(await bulkReplays.lease(lease("a", LEASE_SECONDS - 1))).toBeUndefined();
      expect((await preparations.claim(key("e1"), lease("a", LEASE_SECONDS - 1))).state).toBe("leased");
      expect(await bulkReplays.lease(lease("a", LEASE_SECONDS))).toBeDefined();
      expect((await preparations.claim(key("e1"), lease("a", LEASE_SECONDS))).state).toBe("claimed");
    }));

  it("a user's tokens are refreshed after the same interval from now as before", () =>
    withStore(dialect, async ({ userTokens }, target) => {
      await addTokens(target, "ada", at(3_900), at(3_600));
      await addTokens(target, "bob", at(0), at(0));
      await addTokens(target, "eve", at(0), at(0));
      await userTokens.leaseOne("bob", lease("ended", 3_600));
      await userTokens.leaseOne("eve", lease("ended", 3_600));
      await userTokens.repairTimes(LEASE_SECONDS * 1_000, at(0));
      expect(await userTokens.get("ada")).toMatchObject({ expiresAt: at(300).toISOString() });
      expect(await userTokens.leaseOne("bob", lease("a", LEASE_SECONDS - 1))).toBe("leased");
      expect(await userTokens.leaseOne("bob", lease("a", LEASE_SECONDS))).toMatchObject({ userId: "bob" });
      const idsDue = async (seconds: number) =>
        (await userTokens.leaseDue(lease("b", seconds), 9)).map(({ userId }) => userId);
      expect(await idsDue(LEASE_SECONDS)).toEqual(["eve"]);
      expect(await idsDue(299)).not.toContain("ada");
      expect(await idsDue(300)).toContain("ada");
    }));
});

describe.each(DIALECTS)("a failure on %s of another source", (dialect) => {
  it("a failure survives the commit that completes the event of that id of another source", () =>
    withStore(dialect, async (store) => {
      const other = { source: "oauth", eventId: "e1" };
      const claim = lease("a", 0);
      for (const of of [other, key("e1")]) {
        await fail(store, "e1", of);
        await store.preparations.claim(of, claim);
        await store.preparations.save(of, "a", Buffer.of(1));
      }
      await runOnce(store, newRecord("e1"), async () => ({ result: {} }), committing());
      expect(await store.failures.get(other)).toBeDefined();
      expect(await store.preparations.get(other)).toBeDefined();
      expect(await store.failures.get(key("e1"))).toBeUndefined();
      expect(await store.preparations.get(key("e1"))).toBeUndefined();
    }));
});

describe("a row on postgres that another session holds", () => {
  const SHORT = { lockTimeoutMs: 200 };

  it("a locked row does not stop a process from leasing the other due failures", () =>
    withStore(
      "postgres",
      async (store, target) => {
        for (const id of ["held", "e1", "e2", "suspect"]) await fail(store, id);
        await execute(target, "UPDATE oncehook_failures SET crashes = 1 WHERE event_id IN ('e2', 'suspect')");
        const held = "SELECT 1 FROM oncehook_failures WHERE event_id IN ('held', 'suspect') FOR UPDATE";
        await withLock(target, held, async () => {
          const due = await store.failureLeases.leaseDue(lease("a", 60), retriesOf(9));
          expect(due.map(({ eventId }) => eventId)).toEqual(["e1"]);
          expect(await store.failureLeases.leaseSuspect(lease("a", 60))).toMatchObject({ eventId: "e2" });
        });
      },
      SHORT,
    ));

  it("a locked row does not stop a process from leasing the other due deliveries and tokens", () =>
    withStore(
      "postgres",
      async (store, target) => {
        for (const id of ["e1", "e2"]) await notify(store, id);
        await store.outbox.fanOut(["webhook"], at(0), 9);
        for (const id of ["ada", "bob"]) await addTokens(target, id, at(0), at(0));
        await withLock(target, "SELECT 1 FROM oncehook_deliveries ORDER BY id LIMIT 1 FOR UPDATE", async () => {
          const due = await store.notificationDeliveries.leaseDue(["webhook"], lease("a", 0), 9);
          expect(due.map(({ notification }) => notification.eventId)).toEqual(["e2"]);
        });
        const held = "SELECT 1 FROM oncehook_user_tokens WHERE user_id = 'ada' FOR UPDATE";
        await withLock(target, held, async () => {
          const due = await store.userTokens.leaseDue(lease("a", 0), 9);
          expect(due.map(({ userId }) => userId)).toEqual(["bob"]);
        });
      },
      SHORT,
    ));
});
