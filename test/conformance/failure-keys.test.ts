import { describe, expect, it } from "vitest";
import type { FailureFilter, Lease, NewFailure, Store } from "../../src/store/index.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { committing, newRecord } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { newFailure, retriesOf } from "../support/failure.ts";
import { runOnce } from "../support/once.ts";

const T0 = new Date("2026-01-01T00:00:00.000Z");
const at = (seconds: number) => new Date(T0.getTime() + seconds * 1000);
const lease = (owner: string, seconds: number): Lease => ({
  owner,
  now: at(seconds),
  until: at(seconds + 30),
});
const of = (source: string, eventId = "e1") => ({ source, eventId });
const AGAIN = { kind: "retry", code: "handler_failed", error: "2", now: at(61) } as const;

async function fail({ failures }: Pick<Store, "failures">, over: Partial<NewFailure> = {}): Promise<void> {
  await failures.record(newFailure(of("platform"), at(60), over), T0);
}

const complete = (store: Store, source: string) =>
  runOnce(store, newRecord("e1", { source }), async () => ({ result: {} }), committing());

describe.each(DIALECTS)("failures of one event id of two sources on %s", (dialect) => {
  it("two failures of one event id are leased, released, postponed and removed independently", () =>
    withStore(dialect, async ({ failures, failureLeases }) => {
      for (const source of ["platform", "oauth"]) await fail({ failures }, of(source));
      expect(await failureLeases.leaseOne(of("platform"), lease("a", 60))).toMatchObject(of("platform"));
      expect(await failureLeases.leaseOne(of("third"), lease("a", 60))).toBe("absent");
      expect(await failureLeases.leaseOne(of("oauth"), lease("a", 60))).toMatchObject(of("oauth"));
      await failureLeases.reschedule(of("platform"), "a", { ...AGAIN, nextAttemptAt: at(121) });
      expect(await failures.get(of("oauth"))).toMatchObject({ leasedUntil: at(90).toISOString() });
      expect(await failures.remove(of("platform"))).toBe(true);
      expect(await failures.get(of("oauth"))).toMatchObject(of("oauth"));
    }));

  it("a failure is deleted with the record of its own source, and with no other", () =>
    withStore(dialect, async (store) => {
      await complete(store, "oauth");
      await fail(store);
      expect(await store.failures.get(of("platform"))).toBeDefined();
      await fail(store, of("third"));
      await complete(store, "platform");
      await fail(store);
      expect(await store.failures.get(of("platform"))).toBeUndefined();
      expect(await store.failures.get(of("third"))).toBeDefined();
    }));

  it("failures are found by that id in pages, filtered by source, state or code", () =>
    withStore(dialect, async ({ failures }) => {
      await fail({ failures }, of("platform"));
      await fail({ failures }, { ...of("oauth"), nextAttemptAt: null });
      await fail({ failures }, of("platform", "e2"));
      const found = async (filter: FailureFilter, limit = 9, page: { before?: number } = {}) => {
        const search = { limit, budgetMs: 60_000, ...page };
        const { rows, next } = await failures.search({ eventId: "e1", ...filter }, search);
        return { sources: rows.map(({ source }) => source), next };
      };
      expect(await found({})).toEqual({ sources: ["oauth", "platform"], next: null });
      expect((await found({ state: "waiting" })).sources).toEqual(["platform"]);
      expect((await found({ source: "oauth" })).sources).toEqual(["oauth"]);
      expect((await found({ code: "handler_timed_out" })).sources).toEqual([]);
      const first = await found({}, 1);
      expect(first.sources).toEqual(["oauth"]);
      expect((await found({}, 1, { before: first.next ?? 0 })).sources).toEqual(["platform"]);
    }));
});

describe.each(DIALECTS)("failures on %s", (dialect) => {
  it("failures state when and why they failed last, also with text that PostgreSQL cannot hold", () =>
    withStore(dialect, async ({ failures, failureLeases }) => {
      await fail({ failures }, { error: "a NUL \u0000" });
      expect(await failures.get(of("platform"))).toMatchObject({ error: "a NUL \uFFFD" });
      await failureLeases.leaseDue(lease("a", 60), retriesOf(1));
      const again = { ...AGAIN, error: "another \u0000", nextAttemptAt: at(121) };
      await failureLeases.reschedule(of("platform"), "a", again);
      expect(await failures.get(of("platform"))).toMatchObject({
        error: "another \uFFFD",
        firstFailedAt: T0.toISOString(),
        lastFailedAt: at(61).toISOString(),
      });
    }));

  it("failures are leased in the order in which they became due, and the first due time is known", () =>
    withStore(dialect, async ({ failures, failureLeases }) => {
      expect(await failures.nextAttemptAt()).toBeNull();
      for (const [eventId, nextAttemptAt] of [
        ["second", at(61)],
        ["first", at(60)],
        ["exhausted", null],
      ] as const)
        await fail({ failures }, { eventId, nextAttemptAt });
      expect(await failures.nextAttemptAt()).toBe(at(60).toISOString());
      const due = await failureLeases.leaseDue(lease("a", 100), retriesOf(9));
      expect(due.map(({ eventId }) => eventId)).toEqual(["first", "second"]);
    }));

  it("suspects are leased by the number of their process ends, then by the time they are due", () =>
    withStore(dialect, async ({ failures, failureLeases }, target) => {
      for (const [eventId, ends, due] of [
        ["e1", 2, 10],
        ["e2", 1, 60],
        ["e3", 1, 30],
      ] as const) {
        await fail({ failures }, { eventId, nextAttemptAt: at(due) });
        await execute(target, `UPDATE oncehook_failures SET crashes = ${ends} WHERE event_id = '${eventId}'`);
      }
      const order: (string | undefined)[] = [];
      for (let count = 0; count < 4; count += 1)
        order.push((await failureLeases.leaseSuspect(lease("a", 100)))?.eventId);
      expect(order).toEqual(["e3", "e2", "e1", undefined]);
    }));

  it("waiting failures are counted in the order of their types and versions", () =>
    withStore(dialect, async ({ failures }) => {
      for (const [eventId, eventType, version] of [
        ["e1", "b", "v1"],
        ["e2", "a", "v2"],
        ["e3", "a", "v1"],
      ] as const)
        await fail({ failures }, { eventId, eventType, version });
      expect((await failures.waitingTypes()).map((type) => `${type.eventType} ${type.version}`)).toEqual([
        "a v1",
        "a v2",
        "b v1",
      ]);
    }));
});
