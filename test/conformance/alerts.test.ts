import { describe, expect, it } from "vitest";
import type { AlertChange, AlertKind, Store } from "../../src/store/index.ts";
import { checkTarget } from "../support/check-target.ts";
import { DIALECTS, openTarget, type Target, withDatabase, withStore } from "../support/databases.ts";
import { countOf } from "../support/effects.ts";

const NOON = new Date("2026-03-04T12:00:00.250Z");
const later = (ms: number) => new Date(NOON.getTime() + ms);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const TYPE = { source: "platform", eventType: "payment_notify" };

const CHANGE: AlertChange = {
  kind: "silence",
  source: "platform",
  subject: "payment_notify",
  from: 0,
  isOpen: true,
  since: NOON,
  notifiedCount: 0,
  notifiedAt: NOON,
  message: { topic: "alert.silent", payload: { state: "started" } },
};

/** Opens the stores of two processes on one database. */
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
  it("one of many processes evaluates alerts in each minute, each kind separately", () =>
    withTwoStores(dialect, async (stores) => {
      const claims = async (kind: AlertKind, now: Date) => {
        const asked = stores.flatMap((store) =>
          Array.from({ length: 5 }, () => store.alerts.claimEvaluation(kind, now, MINUTE)),
        );
        return (await Promise.all(asked)).filter((since) => since !== undefined);
      };
      expect(await claims("silence", NOON)).toEqual([NOON]);
      expect(await claims("silence", later(MINUTE - 1))).toEqual([]);
      expect(await claims("failures", later(1))).toEqual([later(1)]);
      expect(await claims("silence", later(MINUTE))).toEqual([NOON]);
    }));

  it("alerts are evaluated again after the clock was set back", () =>
    withStore(dialect, async ({ alerts }) => {
      expect(await alerts.claimEvaluation("silence", later(HOUR), MINUTE)).toEqual(later(HOUR));
      expect(await alerts.claimEvaluation("silence", NOON, MINUTE)).toEqual(NOON);
    }));

  it("alerts have a start time of evaluation, which an interruption of five minutes resets", () =>
    withStore(dialect, async ({ alerts }) => {
      const claim = (ms: number) => alerts.claimEvaluation("silence", later(ms), MINUTE);
      expect(await claim(0)).toEqual(NOON);
      expect(await claim(6 * MINUTE)).toEqual(NOON);
      expect(await claim(12 * MINUTE + 1)).toEqual(later(12 * MINUTE + 1));
    }));

  it("one of many processes that evaluated the same state changes and notifies alerts", () =>
    withTwoStores(dialect, async (stores, target) => {
      const attempt = (from: number, isOpen: boolean) =>
        Promise.all(
          stores.flatMap((store) => Array.from({ length: 5 }, () => store.alerts.change({ ...CHANGE, from, isOpen }))),
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
          notifiedOpen: false,
          // Of the second one, which says that it is resolved.
          notificationId: 2,
          mute: null,
        },
      ]);
    }));

  it("alerts become notifications with ids of their own, which the integrity check accepts", () =>
    withStore(dialect, async (store, target) => {
      await store.alerts.change(CHANGE);
      await store.alerts.change({ ...CHANGE, from: 1, isOpen: false });
      expect(await store.outbox.fanOut(["webhook"], new Date(), 10)).toBe(2);
      const listed = await store.notifications.list({ limit: 10 }, {});
      expect(new Set(listed.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2);
      expect(listed[0]).toMatchObject({
        source: "oncehook",
        topic: "alert.silent",
        payload: { state: "started" },
      });
      expect(await brokenIn(target)).toEqual([]);
    }));

  it("two alerts change independently of each other", () =>
    withStore(dialect, async ({ alerts }) => {
      const others = [{ subject: "another type" }, { source: "oauth" }, { kind: "signatures" as AlertChange["kind"] }];
      for (const over of [{}, ...others]) expect(await alerts.change({ ...CHANGE, ...over })).toBe(true);
      expect(await alerts.change({ ...CHANGE, from: 1, isOpen: false })).toBe(true);
      const open = (await alerts.list()).filter(({ isOpen }) => isOpen);
      expect(open).toHaveLength(others.length);
    }));

  it("an alert can be changed without a notification", () =>
    withStore(dialect, async (store, target) => {
      const { message: _, ...silent } = CHANGE;
      expect(await store.alerts.change(silent)).toBe(true);
      expect(await countOf(target, "oncehook_notifications")).toBe(0);
    }));

  it("the store adds the arrivals that several processes count on one day, with the longest gap", () =>
    withTwoStores(dialect, async (stores) => {
      const other = { source: "platform", eventType: "parcel" };
      const both = [
        { ...TYPE, count: 2 },
        { ...other, count: 3 },
      ];
      const [{ alerts }] = stores;
      await alerts.addArrivals(later(-DAY), [{ ...TYPE, count: 1 }]);
      const add = (at: Date) =>
        Promise.all(
          stores.flatMap((store) =>
            Array.from({ length: 5 }, (_, index) =>
              store.alerts.addArrivals(at, index % 2 === 0 ? both : both.toReversed()),
            ),
          ),
        );
      await add(NOON);
      await add(later(2 * HOUR));
      await alerts.addArrivals(later(3 * HOUR), []);
      const day = Math.floor(NOON.getTime() / DAY);
      const lastAt = later(2 * HOUR);
      const listed = await alerts.listArrivals();
      expect(listed).toHaveLength(3);
      expect(listed).toContainEqual({
        ...TYPE,
        day: day - 1,
        count: 1,
        longestGapMs: 0,
        lastAt: later(-DAY),
      });
      expect(listed).toContainEqual({ ...TYPE, day, count: 40, longestGapMs: DAY, lastAt });
      expect(listed).toContainEqual({ ...other, day, count: 60, longestGapMs: 2 * HOUR, lastAt });
    }));

  it("the store deletes the arrivals of the days before a day", () =>
    withStore(dialect, async ({ alerts }) => {
      for (const days of [3, 2, 1]) await alerts.addArrivals(later(-days * DAY), [{ ...TYPE, count: 1 }]);
      const day = Math.floor(NOON.getTime() / DAY);
      await alerts.deleteArrivalsBefore(day - 2);
      expect((await alerts.listArrivals()).map((row) => row.day).toSorted()).toEqual([day - 2, day - 1]);
    }));

  it("the store reads the outcomes of quarter-hours from the counts of the overview", () =>
    withStore(dialect, async ({ alerts, rollups }) => {
      expect(await alerts.firstOutcomeSlot()).toBeUndefined();
      const start = NOON.getTime() / 1_000 - 0.25;
      for (const bucket of [1, 2]) {
        await rollups.add(later(60_000), [{ source: "platform", outcome: "success", bucket, count: 3 }]);
      }
      await rollups.add(later(900_000), [{ source: "platform", outcome: "rejected", bucket: 1, count: 1 }]);
      expect(await alerts.outcomes(start, start + 900)).toEqual([
        { source: "platform", outcome: "success", slot: start, count: 6 },
      ]);
      expect(await alerts.outcomes(start + 900, start + 1_800)).toHaveLength(1);
      expect(await alerts.firstOutcomeSlot()).toBe(start);
    }));

  it("exhausted and rejected failures are counted by type, with a flag where there are more than were counted", () =>
    withStore(dialect, async ({ alerts, failures }) => {
      for (const [eventId, eventType, state] of [
        ["e1", "a", "exhausted"],
        ["e2", "a", "rejected"],
        ["e3", "b", "rejected"],
        ["e4", "c", "waiting"],
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
            nextAttemptAt: state === "waiting" ? NOON : null,
            isRejected: state === "rejected",
            ...kept,
          },
          NOON,
        );
      }
      expect(await alerts.exhausted(10, NOON)).toEqual({
        types: [
          { source: "platform", eventType: "a", count: 2, muted: 0 },
          { source: "platform", eventType: "b", count: 1, muted: 0 },
        ],
        isComplete: true,
      });
      const { types, isComplete } = await alerts.exhausted(2, NOON);
      expect([types.reduce((sum, { count }) => sum + count, 0), isComplete]).toEqual([2, false]);
    }));

  it("the oldest accepted event of each source is found, by when it was accepted last", () =>
    withStore(dialect, async ({ alerts, failures }) => {
      const event = {
        eventType: "order",
        version: "v1",
        encryptedBody: Buffer.of(1),
        bodySha256: "ab",
        // An attempt that was put off moves this one, and an event does not get younger by it.
        nextAttemptAt: later(DAY),
      } as const;
      const accept = (source: string, eventId: string, ms: number) =>
        failures.accept({ source, eventId, ...event }, later(ms));
      expect(await alerts.oldestAccepted(10)).toEqual({ sources: [], isComplete: true });
      const failure = { ...event, code: "handler_failed", error: "no", nextAttemptAt: null } as const;
      await failures.record({ source: "shops/a", eventId: "e0", ...failure }, NOON);
      await accept("stripe", "e1", MINUTE);
      await accept("stripe", "e2", 2 * MINUTE);
      await accept("shops/b", "e1", 3 * MINUTE);
      // The platform delivers an event again whose retries are exhausted.
      await accept("shops/a", "e0", HOUR);
      expect(await alerts.oldestAccepted(10)).toEqual({
        sources: [
          { source: "shops/a", since: later(HOUR) },
          { source: "shops/b", since: later(3 * MINUTE) },
          { source: "stripe", since: later(MINUTE) },
        ],
        isComplete: true,
      });
      expect(await failures.oldestAccepted()).toBe(later(MINUTE).toISOString());
      expect((await alerts.oldestAccepted(3)).isComplete).toBe(false);
    }));
});
