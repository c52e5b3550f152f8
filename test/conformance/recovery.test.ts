import { describe, expect, it } from "vitest";
import { fixedRetries } from "../../src/domain/index.ts";
import type { FailureLease, Lease, NewFailure, Store } from "../../src/store/index.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { committing, newRecord } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { newFailure } from "../support/failure.ts";
import { runOnce } from "../support/once.ts";
import { recoveryAt } from "../support/recovery.ts";

const T0 = new Date("2026-01-01T00:00:00.000Z");
const at = (seconds: number) => new Date(T0.getTime() + seconds * 1000);
const LEASE_SECONDS = 30;
const KEY = { source: "platform", eventId: "e1" };
const ALL = { after: 0, limit: 100 };
const lease = (owner: string, seconds: number): Lease => ({
  owner,
  now: at(seconds),
  until: at(seconds + LEASE_SECONDS),
});
const recover = ({ failureLeases }: Store, seconds: number) =>
  failureLeases.recover(recoveryAt(at(seconds), LEASE_SECONDS * 1_000));

async function fail({ failures }: Store, over: Partial<NewFailure> = {}): Promise<void> {
  await failures.record(newFailure(KEY, at(60), over), T0);
}

const leaseOf = ({ failureLeases }: Store, seconds: number, over: Partial<FailureLease>) =>
  failureLeases.leaseOne(KEY, { ...lease("ended", seconds), ...over });

describe.each(DIALECTS)("the lease of a failure on %s that a process left", (dialect) => {
  it.each([false, true])("one of many processes settles the lease, with the attempt alone: %s", (isAlone) =>
    withStore(dialect, async (store) => {
      await fail(store);
      await leaseOf(store, 5, { kind: "replay", isAlone });
      const settled = await Promise.all(Array.from({ length: 4 }, () => recover(store, 35)));
      expect(settled.flat()).toHaveLength(1);
      expect(await store.attempts.list(KEY, ALL)).toMatchObject([
        { trigger: "replay", outcome: "process_ended", startedAt: at(5).toISOString(), durationMs: 30_000 },
      ]);
      expect(await store.failures.get(KEY)).toMatchObject({
        crashes: 1,
        lastFailedAt: at(35).toISOString(),
      });
    }),
  );

  it("the recovery counts no attempt for a removal, which runs no handler", () =>
    withStore(dialect, async (store) => {
      await fail(store);
      await leaseOf(store, 5, { kind: "removal" });
      expect(await recover(store, 35)).toEqual([]);
      expect(await store.failures.get(KEY)).toMatchObject({
        code: "handler_failed",
        crashes: 0,
        leasedUntil: null,
      });
      expect(await store.attempts.list(KEY, ALL)).toEqual([]);
    }));

  it("the recovery leaves an event's retries unchanged where its bulk replay gives it up, which alone counts that", () =>
    withStore(dialect, async (store) => {
      await fail(store, { nextAttemptAt: at(3_600) });
      const asked = { filter: {}, perSecond: 10, createdBy: "token" };
      const [bulk, other] = [await store.bulkReplays.create(asked, T0), await store.bulkReplays.create(asked, T0)];
      const delaySeconds = 7_200;
      for (const seconds of [0, 100, 200]) {
        await leaseOf(store, seconds, { kind: "bulk", isAlone: true, bulkReplayId: bulk.id });
        const policy = fixedRetries(3, delaySeconds);
        await store.failureLeases.recover(recoveryAt(at(seconds + LEASE_SECONDS), 30_000, policy));
      }
      expect(await store.failures.get(KEY)).toMatchObject({
        state: "waiting",
        retriesDone: 0,
        nextAttemptAt: at(3_600).toISOString(),
      });
      expect((await store.bulkReplays.get(bulk.id))?.failed).toBe(1);
      expect((await store.bulkReplays.get(other.id))?.failed).toBe(0);
    }));

  it("the leases of an ended process end at once, deliveries included, and no process end is noted elsewhere", () =>
    withStore(dialect, async (store) => {
      await runOnce(
        store,
        newRecord("e2"),
        async ({ enqueue }) => {
          await enqueue({ topic: "t", payload: {} });
          return { result: {} };
        },
        committing(),
      );
      await store.outbox.fanOut(["webhook"], T0, 9);
      await store.notificationDeliveries.leaseDue(
        ["webhook"],
        { ...lease("ended", 0), until: at(900), retryAt: T0 },
        9,
      );
      await fail(store);
      await store.leases.expireAll(at(1));
      expect(await store.notificationDeliveries.leaseExpired(["webhook"], lease("b", 1))).toBeDefined();
      expect((await store.failures.get(KEY))?.leasedUntil).toBeNull();
    }));

  it("the leases of a prepare step and of a user's tokens keep their time, as their outside work must not run twice", () =>
    withStore(dialect, async ({ preparations, userTokens, leases }, target) => {
      const bytes = dialect === "sqlite" ? "x'01'" : "'\\x01'::bytea";
      await execute(
        target,
        `INSERT INTO oncehook_user_tokens (user_id, encrypted_tokens, updated_at) VALUES ('ada', ${bytes}, '${T0.toISOString()}')`,
      );
      await preparations.claim(KEY, lease("a", 0));
      await userTokens.leaseOne("ada", lease("a", 0));
      await leases.expireAll(at(1));
      expect((await preparations.claim(KEY, lease("b", 1))).state).toBe("leased");
      expect(await userTokens.leaseOne("ada", lease("b", 1))).toBe("leased");
      expect((await preparations.claim(KEY, lease("b", LEASE_SECONDS))).state).toBe("claimed");
    }));
});

describe.each(DIALECTS)("the leases of bulk replays on %s", (dialect) => {
  const ASKED = { filter: {}, perSecond: 1, createdBy: "token" };

  it("the owner alone releases its leases of bulk replays, one by one", () =>
    withStore(dialect, async ({ bulkReplays }) => {
      const [first, second] = [await bulkReplays.create(ASKED, T0), await bulkReplays.create(ASKED, T0)];
      await bulkReplays.lease(lease("a", 0));
      await bulkReplays.lease(lease("a", 0));
      await bulkReplays.release(first.id, "b");
      expect(await bulkReplays.lease(lease("c", 1))).toBeUndefined();
      await bulkReplays.release(second.id, "a");
      expect(await bulkReplays.lease(lease("c", 1))).toMatchObject({ id: second.id });
      expect(await bulkReplays.lease(lease("c", 1))).toBeUndefined();
    }));

  it("a bulk replay ends with the counts that were noted, even above its total", () =>
    withStore(dialect, async ({ bulkReplays }) => {
      const { id } = await bulkReplays.create(ASKED, T0);
      await bulkReplays.lease(lease("a", 0));
      await bulkReplays.advance(id, "a", { afterId: 2, succeeded: 1, alreadyHandled: 1 }, at(60));
      expect(await bulkReplays.finish(id, "a", at(1))).toMatchObject({
        total: 0,
        succeeded: 1,
        alreadyHandled: 1,
      });
    }));
});

describe.each(DIALECTS)("the retry of a failure on %s that is further away than the delay", (dialect) => {
  const nextAttempt = async ({ failures }: Store) => (await failures.get(KEY))?.nextAttemptAt;

  it.each([
    [70, 70, "stays where it is: the clocks of two machines may differ by ten seconds"],
    [71, 60, "comes after the delay, since the clock was set back by more than ten seconds"],
  ])("a retry in %d s comes in %d s: it %s", (before, after) =>
    withStore(dialect, async (store) => {
      await fail(store, { nextAttemptAt: at(before) });
      await recover(store, 0);
      expect(await nextAttempt(store)).toBe(at(after).toISOString());
    }),
  );

  it("a retry keeps its time while another attempt is at work on the failure, and comes sooner after that", () =>
    withStore(dialect, async (store) => {
      await fail(store, { nextAttemptAt: at(7_200) });
      await leaseOf(store, 0, { kind: "replay" });
      await recover(store, 0);
      expect(await nextAttempt(store)).toBe(at(7_200).toISOString());
      await store.failureLeases.release(KEY, "ended");
      await recover(store, 0);
      expect(await nextAttempt(store)).toBe(at(60).toISOString());
    }));
});
