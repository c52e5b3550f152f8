import { describe, expect, it } from "vitest";
import type { FailureFilter, Lease, NewFailure, Page } from "../../src/store/index.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { committing, countOf, newRecord } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { retriesOf } from "../support/failure.ts";
import { runOnce } from "../support/once.ts";

const T0 = new Date("2026-01-01T00:00:00.000Z");
const at = (seconds: number) => new Date(T0.getTime() + seconds * 1000);

function newFailure(eventId: string, over: Partial<NewFailure> = {}): NewFailure {
  return {
    source: "platform",
    eventId,
    eventType: "payment_notify",
    version: "v1",
    code: "handler_failed",
    error: "down",
    encryptedBody: Buffer.from([0, 1, 255]),
    bodySha256: "ab".repeat(32),
    nextAttemptAt: at(60),
    ...over,
  };
}

const rejection = (eventId: string, over: Partial<NewFailure> = {}) =>
  newFailure(eventId, { code: "event_invalid", nextAttemptAt: null, isRejected: true, ...over });

function lease(owner: string, now: Date, seconds = 30): Lease {
  return { owner, now, until: new Date(now.getTime() + seconds * 1000) };
}

const key = (eventId: string) => ({ source: "platform", eventId });

describe.each(DIALECTS)("failures on %s", (dialect) => {
  it("a failure keeps its encrypted body and its schedule", () =>
    withStore(dialect, async ({ failures }) => {
      await failures.record(newFailure("e1"), T0);
      const stored = await failures.get(key("e1"));
      expect(stored).toMatchObject({
        state: "waiting",
        attempts: 1,
        retriesDone: 0,
        code: "handler_failed",
        firstFailedAt: T0.toISOString(),
        nextAttemptAt: at(60).toISOString(),
      });
      expect(Buffer.from(stored!.encryptedBody)).toEqual(Buffer.from([0, 1, 255]));
    }));

  it("a failure is exhausted at once where no retry is allowed", () =>
    withStore(dialect, async ({ failures }) => {
      await failures.record(newFailure("e1", { nextAttemptAt: null }), T0);
      expect((await failures.get(key("e1")))?.state).toBe("exhausted");
    }));

  it("a failure is not recorded for an event that another delivery has handled meanwhile", () =>
    withStore(dialect, async (store) => {
      await runOnce(store, newRecord("e1"), async () => ({ result: {} }), committing());
      await store.failures.record(newFailure("e1", { nextAttemptAt: null }), T0);
      await store.failures.record(newFailure("e2"), T0);
      expect(await store.failures.get(key("e1"))).toBeUndefined();
      expect(await store.failures.get(key("e2"))).toBeDefined();
    }));

  it("a failure is removed instead of postponed when another delivery has completed its event", () =>
    withStore(dialect, async (store, target) => {
      await store.failures.record(newFailure("e1"), T0);
      await store.failureLeases.leaseDue(lease("a", at(60)), retriesOf(1));
      // The completion did not see the failure, as where both were committed at the same moment.
      await runOnce(store, newRecord("e2"), async () => ({ result: {} }), committing());
      await execute(target, "UPDATE oncehook_records SET event_id = 'e1'");
      const again = { kind: "retry", code: "handler_failed", error: "2", now: at(61) } as const;
      await store.failureLeases.reschedule(key("e1"), "a", { ...again, nextAttemptAt: null });
      expect(await store.failures.get(key("e1"))).toBeUndefined();
    }));

  it("a second failure counts as an attempt and leaves the schedule unchanged", () =>
    withStore(dialect, async ({ failures }) => {
      await failures.record(newFailure("e1"), T0);
      await failures.record(newFailure("e1", { error: "again", nextAttemptAt: at(999) }), at(10));
      expect(await failures.get(key("e1"))).toMatchObject({
        attempts: 2,
        retriesDone: 0,
        error: "again",
        nextAttemptAt: at(60).toISOString(),
        lastFailedAt: at(10).toISOString(),
      });
    }));

  it("a rejected event is listed and counted as such, and no retry leases it", () =>
    withStore(dialect, async ({ failures, failureLeases, alerts }) => {
      await failures.record(rejection("e1"), T0);
      const encryptedBody = Buffer.from([7]);
      await failures.record(rejection("e1", { error: "again", encryptedBody }), at(10));
      expect([...((await failures.get(key("e1")))?.encryptedBody ?? [])]).toEqual([7]);
      expect(await failures.get(key("e1"))).toMatchObject({
        state: "rejected",
        attempts: 2,
        code: "event_invalid",
        error: "again",
        nextAttemptAt: null,
      });
      expect(await failures.counts()).toEqual({ accepted: 0, waiting: 0, exhausted: 0, rejected: 1 });
      expect(await failures.list({ limit: 9 }, { state: "rejected" })).toHaveLength(1);
      expect(await failures.list({ limit: 9 }, {})).toHaveLength(1);
      expect(await failureLeases.leaseDue(lease("a", at(9_999)), retriesOf(9))).toEqual([]);
      expect((await alerts.exhausted(9, new Date())).types).toMatchObject([{ count: 1 }]);
    }));

  it("a rejection ends the retries of an event, and a failure after a rejection begins them", () =>
    withStore(dialect, async ({ failures }) => {
      await failures.record(newFailure("e1"), T0);
      await failures.record(rejection("e1"), at(1));
      expect(await failures.get(key("e1"))).toMatchObject({ state: "rejected", nextAttemptAt: null });
      await failures.record(newFailure("e1"), at(2));
      const nextAttemptAt = at(60).toISOString();
      expect(await failures.get(key("e1"))).toMatchObject({
        state: "waiting",
        retriesDone: 0,
        nextAttemptAt,
      });
    }));

  it("a rejected event that is accepted again is run again", () =>
    withStore(dialect, async ({ failures }) => {
      await failures.record(rejection("e1"), T0);
      await failures.accept({ ...newFailure("e1"), nextAttemptAt: at(5) }, at(5));
      expect((await failures.get(key("e1")))?.state).toBe("accepted");
    }));

  it("an attempt that is rejected leaves a rejected event, and a replay of one that fails an exhausted one", () =>
    withStore(dialect, async ({ failures, failureLeases }) => {
      await failures.record(newFailure("e1"), T0);
      await failureLeases.leaseDue(lease("a", at(60)), retriesOf(1));
      const again = { code: "event_invalid", error: "no", now: at(61), nextAttemptAt: null } as const;
      await failureLeases.reschedule(key("e1"), "a", { ...again, kind: "retry", isRejected: true });
      expect(await failures.get(key("e1"))).toMatchObject({ state: "rejected", nextAttemptAt: null });
      await failureLeases.leaseOne(key("e1"), lease("b", at(62)));
      await failureLeases.reschedule(key("e1"), "b", { ...again, kind: "replay", code: "handler_failed" });
      expect((await failures.get(key("e1")))?.state).toBe("exhausted");
    }));

  it("due failures are leased oldest first, up to the limit", () =>
    withStore(dialect, async ({ failures, failureLeases }) => {
      await failures.record(newFailure("later", { nextAttemptAt: at(90) }), T0);
      await failures.record(newFailure("second", { nextAttemptAt: at(61) }), T0);
      await failures.record(newFailure("first", { nextAttemptAt: at(60) }), T0);
      expect(await failureLeases.leaseDue(lease("a", at(59)), retriesOf(10))).toEqual([]);
      expect((await failureLeases.leaseDue(lease("a", at(70)), retriesOf(1))).map((f) => f.eventId)).toEqual(["first"]);
      expect((await failureLeases.leaseDue(lease("a", at(70)), retriesOf(10))).map((f) => f.eventId)).toEqual([
        "second",
      ]);
    }));

  it("one of many owners that ask at once leases each due failure", () =>
    withStore(dialect, async ({ failures, failureLeases }) => {
      for (let index = 0; index < 20; index += 1) await failures.record(newFailure(`e${index}`), T0);
      const owners = Array.from({ length: 8 }, (_, index) => `owner-${index}`);
      const leased = await Promise.all(
        owners.map((owner) => failureLeases.leaseDue(lease(owner, at(100)), retriesOf(10))),
      );
      const ids = leased.flat().map(({ eventId }) => eventId);
      expect(new Set(ids).size).toBe(ids.length);
      const rest = await failureLeases.leaseDue(lease("late", at(100)), retriesOf(100));
      expect(ids.length + rest.length).toBe(20);
    }));

  it("a failure is rescheduled by its owner only, and exhausted after the last retry", () =>
    withStore(dialect, async ({ failures, failureLeases }) => {
      await failures.record(newFailure("e1"), T0);
      await failureLeases.leaseDue(lease("a", at(60)), retriesOf(1));
      const again = {
        kind: "retry",
        code: "handler_failed",
        error: "2",
        now: at(61),
        nextAttemptAt: at(121),
      } as const;
      await failureLeases.reschedule(key("e1"), "somebody else", again);
      expect(await failures.get(key("e1"))).toMatchObject({
        error: "down",
        leasedUntil: at(90).toISOString(),
      });
      await failureLeases.reschedule(key("e1"), "a", again);
      expect(await failures.get(key("e1"))).toMatchObject({
        state: "waiting",
        retriesDone: 1,
        attempts: 2,
        leasedUntil: null,
      });
      await failureLeases.leaseDue(lease("a", at(121)), retriesOf(1));
      await failureLeases.reschedule(key("e1"), "a", { ...again, nextAttemptAt: null });
      expect(await failures.get(key("e1"))).toMatchObject({
        state: "exhausted",
        retriesDone: 2,
        nextAttemptAt: null,
      });
      expect(await failureLeases.leaseDue(lease("a", at(9_999)), retriesOf(10))).toEqual([]);
    }));

  it("a replay counts against no retry, and does not change the schedule", () =>
    withStore(dialect, async ({ failures, failureLeases }) => {
      await failures.record(newFailure("e1"), T0);
      await failureLeases.leaseOne(key("e1"), lease("operator", at(5)));
      const again = {
        kind: "replay",
        code: "handler_failed",
        error: "2",
        now: at(6),
        nextAttemptAt: null,
      } as const;
      await failureLeases.reschedule(key("e1"), "operator", again);
      expect(await failures.get(key("e1"))).toMatchObject({ state: "waiting", attempts: 2, retriesDone: 0 });
    }));

  it("a failure is leased whatever its state, and the result names an absent or a leased one", () =>
    withStore(dialect, async ({ failures, failureLeases }) => {
      await failures.record(newFailure("e1", { nextAttemptAt: null }), T0);
      expect(await failureLeases.leaseOne(key("nobody"), lease("a", T0))).toBe("absent");
      expect(await failureLeases.leaseOne(key("e1"), lease("a", T0))).toMatchObject({ eventId: "e1" });
      expect(await failureLeases.leaseOne(key("e1"), lease("b", T0))).toBe("leased");
      await failureLeases.release(key("e1"), "a");
      expect(await failureLeases.leaseOne(key("e1"), lease("b", T0))).toMatchObject({ eventId: "e1" });
    }));

  it("a failure whose lease is released unused is postponed, so that others come first", () =>
    withStore(dialect, async ({ failures, failureLeases }) => {
      await failures.record(newFailure("blocked"), T0);
      await failures.record(newFailure("other", { nextAttemptAt: at(61) }), T0);
      expect((await failureLeases.leaseDue(lease("a", at(70)), retriesOf(1))).map((f) => f.eventId)).toEqual([
        "blocked",
      ]);
      await failureLeases.release(key("blocked"), "a", at(130));
      expect((await failureLeases.leaseDue(lease("a", at(71)), retriesOf(1))).map((f) => f.eventId)).toEqual(["other"]);
      expect(await failures.get(key("blocked"))).toMatchObject({
        retriesDone: 0,
        attempts: 1,
        state: "waiting",
      });
    }));

  it("the commit that completes an event deletes its failure", () =>
    withStore(dialect, async (store, target) => {
      await store.failures.record(newFailure("e1"), T0);
      await store.failures.record(newFailure("e2"), T0);
      await runOnce(store, newRecord("e1"), async () => ({ result: {} }), committing());
      expect(await countOf(target, "oncehook_failures")).toBe(1);
      expect(await store.failures.remove(key("e2"))).toBe(true);
      expect(await store.failures.remove(key("e2"))).toBe(false);
    }));

  it("waiting failures are counted by event type and version, without exhausted ones", () =>
    withStore(dialect, async ({ failures }) => {
      await failures.record(newFailure("e1"), T0);
      await failures.record(newFailure("e2"), T0);
      await failures.record(newFailure("e3", { version: "v2" }), T0);
      await failures.record(newFailure("e4", { eventType: "gone", nextAttemptAt: null }), T0);
      expect(await failures.waitingTypes()).toEqual([
        { source: "platform", eventType: "payment_notify", version: "v1", count: 2 },
        { source: "platform", eventType: "payment_notify", version: "v2", count: 1 },
      ]);
    }));

  it("failures are listed newest first in pages, by state, and counted", () =>
    withStore(dialect, async ({ failures }) => {
      for (const id of ["e1", "e2", "e3"]) await failures.record(newFailure(id), T0);
      await failures.record(newFailure("e4", { nextAttemptAt: null }), T0);
      expect(await failures.counts()).toEqual({ accepted: 0, waiting: 3, exhausted: 1, rejected: 0 });
      const first = await failures.list({ limit: 2 }, {});
      expect(first.map(({ eventId }) => eventId)).toEqual(["e4", "e3"]);
      const second = await failures.list({ limit: 2, before: first[1]!.id }, {});
      expect(second.map(({ eventId }) => eventId)).toEqual(["e2", "e1"]);
      expect((await failures.list({ limit: 9 }, { state: "exhausted" })).map(({ eventId }) => eventId)).toEqual(["e4"]);
    }));

  it("failures are listed by a filter, newest first in pages", () =>
    withStore(dialect, async ({ failures }) => {
      const exhausted = { nextAttemptAt: null };
      await failures.record(newFailure("e1", { ...exhausted, code: "handler_timed_out" }), T0);
      await failures.record(newFailure("e2"), T0);
      await failures.record(newFailure("e3", { ...exhausted, eventType: "webhook_message" }), T0);
      await failures.record(newFailure("e4", { eventType: "webhook_message" }), T0);
      await failures.record(newFailure("e5", { source: "oauth" }), T0);
      await failures.record(newFailure("e6", exhausted), T0);
      const found = async (filter: FailureFilter, page: Page = { limit: 9 }) =>
        (await failures.list(page, filter)).map(({ eventId }) => eventId);
      expect(await found({ eventType: "webhook_message" })).toEqual(["e4", "e3"]);
      expect(await found({ code: "handler_failed" })).toEqual(["e6", "e5", "e4", "e3", "e2"]);
      expect(await found({ source: "platform", state: "waiting" })).toEqual(["e4", "e2"]);
      expect(await found({ source: "nobody" })).toEqual([]);
      const all = { state: "exhausted", source: "platform", eventType: "payment_notify" } as const;
      expect(await found({ ...all, code: "handler_timed_out" })).toEqual(["e1"]);
      const [, , third] = await failures.list({ limit: 3 }, { code: "handler_failed" });
      expect(third?.eventId).toBe("e4");
      expect(await found({ code: "handler_failed" }, { limit: 1, before: third!.id })).toEqual(["e3"]);
    }));
});
