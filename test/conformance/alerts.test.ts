import { describe, expect, it } from "vitest";
import type { AlertChange, Store } from "../../src/store/index.ts";
import { checkTarget } from "../support/check-target.ts";
import { DIALECTS, openTarget, type Target, withDatabase, withStore } from "../support/databases.ts";
import { countOf } from "../support/effects.ts";

const NOON = new Date("2026-03-04T12:00:00.250Z");
const later = (ms: number) => new Date(NOON.getTime() + ms);
const MINUTE = 60_000;
const TYPE = { source: "platform", subject: "type:payment_notify" };

const CHANGE: AlertChange = {
  kind: "silence",
  source: "platform",
  subject: "payment_notify",
  from: 0,
  isOpen: true,
  since: NOON,
  notifiedCount: 0,
  notifiedAt: NOON,
  message: { topic: "alert.silent", payload: { state: "begun" } },
};

/** Lends two processes' stores on one database. */
function withTwoStores(
  dialect: (typeof DIALECTS)[number],
  use: (stores: readonly [Store, Store], target: Target) => Promise<void>,
): Promise<void> {
  return withDatabase(dialect, async (target) => {
    const first = (await openTarget(target)).store;
    const second = (await openTarget(target)).store;
    try {
      await use([first, second], target);
    } finally {
      await Promise.all([first.close(), second.close()]);
    }
  });
}

async function brokenIn(target: Target): Promise<string[]> {
  const { invariants } = await checkTarget(target);
  return invariants.filter(({ violations }) => violations > 0).map(({ name }) => name);
}

describe.each(DIALECTS)("alerts on %s", (dialect) => {
  it("give the turn to one of many in each minute, and to another in the next", () =>
    withTwoStores(dialect, async (stores) => {
      const turns = async (now: Date) => {
        const asked = stores.flatMap((store) =>
          Array.from({ length: 5 }, () => store.alerts.claimEvaluation(now, MINUTE)),
        );
        return (await Promise.all(asked)).filter(Boolean).length;
      };
      expect(await turns(NOON)).toBe(1);
      expect(await turns(later(MINUTE - 1))).toBe(0);
      expect(await turns(later(MINUTE))).toBe(1);
    }));

  it("give the turn again after the clock was set back", () =>
    withStore(dialect, async ({ alerts }) => {
      expect(await alerts.claimEvaluation(later(3_600_000), MINUTE)).toBe(true);
      expect(await alerts.claimEvaluation(NOON, MINUTE)).toBe(true);
    }));

  it("are changed, and told of, by one of many that have judged the same", () =>
    withTwoStores(dialect, async (stores, target) => {
      const attempt = (from: number, isOpen: boolean) =>
        Promise.all(
          stores.flatMap((store) =>
            Array.from({ length: 5 }, () => store.alerts.change({ ...CHANGE, from, isOpen })),
          ),
        );
      expect((await attempt(0, true)).filter(Boolean)).toHaveLength(1);
      expect((await attempt(1, false)).filter(Boolean)).toHaveLength(1);
      expect((await attempt(1, false)).filter(Boolean)).toHaveLength(0);
      expect(await countOf(target, "oncehook_notifications", "topic = 'alert.silent'")).toBe(2);
      const [{ alerts }] = stores;
      expect(await alerts.list()).toEqual([
        {
          kind: "silence",
          source: "platform",
          subject: "payment_notify",
          isOpen: false,
          number: 2,
          since: NOON,
          notifiedCount: 0,
          notifiedAt: NOON,
        },
      ]);
    }));

  it("are notifications like others: with ids of their own, delivered, and nothing that verify would find fault with", () =>
    withStore(dialect, async (store, target) => {
      await store.alerts.change(CHANGE);
      await store.alerts.change({ ...CHANGE, from: 1, isOpen: false });
      expect(await store.outbox.fanOut(["webhook"], new Date(), 10)).toBe(2);
      const listed = await store.notifications.list({ limit: 10 }, {});
      expect(new Set(listed.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2);
      expect(listed[0]).toMatchObject({
        source: "oncehook",
        topic: "alert.silent",
        payload: { state: "begun" },
      });
      expect(await brokenIn(target)).toEqual([]);
    }));

  it("are changed one by one", () =>
    withStore(dialect, async ({ alerts }) => {
      const others = [
        { subject: "another type" },
        { source: "oauth" },
        { kind: "signatures" as AlertChange["kind"] },
      ];
      for (const over of [{}, ...others]) expect(await alerts.change({ ...CHANGE, ...over })).toBe(true);
      expect(await alerts.change({ ...CHANGE, from: 1, isOpen: false })).toBe(true);
      const open = (await alerts.list()).filter(({ isOpen }) => isOpen);
      expect(open).toHaveLength(others.length);
    }));

  it("may be changed without a word", () =>
    withStore(dialect, async (store, target) => {
      const { message: _, ...silent } = CHANGE;
      expect(await store.alerts.change(silent)).toBe(true);
      expect(await countOf(target, "oncehook_notifications")).toBe(0);
    }));

  it("add up what many processes count in the same slots", () =>
    withTwoStores(dialect, async (stores) => {
      const other = { source: "platform", subject: "authentic" };
      const both = [
        { ...TYPE, count: 2 },
        { ...other, count: 3 },
      ];
      const adding = stores.flatMap(({ alerts }) => [
        ...Array.from({ length: 5 }, () => alerts.addArrivals(7, both)),
        ...Array.from({ length: 5 }, () => alerts.addArrivals(9, both.toReversed())),
      ]);
      await Promise.all(adding);
      const [{ alerts }] = stores;
      await alerts.addArrivals(7, []);
      const found = await alerts.arrivals(TYPE, 7, 10);
      expect(found.toSorted((a, b) => a.slot - b.slot)).toEqual([
        { slot: 7, count: 20 },
        { slot: 9, count: 20 },
      ]);
      expect(await alerts.arrivals(other, 8, 9)).toEqual([]);
      expect(await alerts.arrivals({ ...TYPE, source: "oauth" }, 7, 10)).toEqual([]);
      expect(await alerts.subjects()).toContainEqual({ ...TYPE, firstSlot: 7, lastSlot: 9 });
    }));

  it("forget what is old, in any number of steps, and what has not come since", () =>
    withStore(dialect, async ({ alerts }, target) => {
      for (const slot of [1, 2_500, 5_000, 5_001]) await alerts.addArrivals(slot, [{ ...TYPE, count: 1 }]);
      await alerts.addArrivals(3, [{ source: "platform", subject: "type:gone", count: 1 }]);
      await alerts.deleteArrivalsBefore(5_000);
      expect(await alerts.subjects()).toEqual([{ ...TYPE, firstSlot: 5_000, lastSlot: 5_001 }]);
      expect(await countOf(target, "oncehook_arrivals")).toBe(2);
    }));

  it("count exhausted failures by type, and say when there are more than were counted", () =>
    withStore(dialect, async ({ alerts, failures }) => {
      for (const [eventId, eventType, isExhausted] of [
        ["e1", "a", true],
        ["e2", "a", true],
        ["e3", "b", true],
        ["e4", "c", false],
      ] as const) {
        const kept = {
          version: "v1",
          encryptedBody: Buffer.of(1),
          bodySha256: "ab",
          code: "handler_failed",
        } as const;
        await failures.record(
          {
            source: "platform",
            eventId,
            eventType,
            error: "no",
            nextAttemptAt: isExhausted ? null : NOON,
            ...kept,
          },
          NOON,
        );
      }
      expect(await alerts.exhausted(10)).toEqual({
        types: [
          { source: "platform", eventType: "a", count: 2 },
          { source: "platform", eventType: "b", count: 1 },
        ],
        isComplete: true,
      });
      const { types, isComplete } = await alerts.exhausted(2);
      expect([types.reduce((sum, { count }) => sum + count, 0), isComplete]).toEqual([2, false]);
    }));
});
