import { describe, expect, it } from "vitest";
import type { Lease, Store, StoredNotification } from "../../src/store/index.ts";
import { checkTarget } from "../support/check-target.ts";
import { DIALECTS, openTarget, withStore } from "../support/databases.ts";
import { committing, countOf, newRecord } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { runOnce } from "../support/once.ts";

const T0 = new Date("2026-01-01T00:00:00.000Z");
const at = (seconds: number) => new Date(T0.getTime() + seconds * 1000);
const lease = (owner: string, now: Date): Lease => ({ owner, now, until: new Date(now.getTime() + 60_000) });

const REFUSES_MARK = {
  sqlite: `CREATE TRIGGER refuses BEFORE UPDATE ON oncehook_notifications BEGIN SELECT RAISE(ABORT, 'refused'); END`,
  postgres: `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''refused''; END';
    CREATE TRIGGER refuses BEFORE UPDATE ON oncehook_notifications FOR EACH ROW EXECUTE FUNCTION refuse()`,
};

async function notify(store: Store, eventId: string): Promise<void> {
  await runOnce(
    store,
    newRecord(eventId),
    async (scope) => {
      await scope.enqueue({ topic: "order.paid", payload: { order: eventId } });
      return { result: {} };
    },
    committing(),
  );
}

const eventsOf = (due: readonly { readonly notification: StoredNotification }[]) =>
  due.map(({ notification }) => notification.eventId);

describe.each(DIALECTS)("the outbox on %s", (dialect) => {
  it("the outbox makes one delivery for each channel, once, of each committed notification", () =>
    withStore(dialect, async (store) => {
      await notify(store, "e1");
      const failing = runOnce(
        store,
        newRecord("e2"),
        async (scope) => {
          await scope.enqueue({ topic: "order.paid", payload: {} });
          throw new Error("rolled back");
        },
        committing(),
      );
      await expect(failing).rejects.toThrow("rolled back");
      expect(await store.outbox.fanOut(["webhook", "email"], T0, 10)).toBe(1);
      expect(await store.outbox.fanOut(["webhook", "email"], T0, 10)).toBe(0);
      const due = await store.notificationDeliveries.leaseDue(["webhook", "email"], lease("a", T0), 10);
      expect(due.map(({ channel }) => channel).sort()).toEqual(["email", "webhook"]);
      expect(due[0]?.notification).toMatchObject({
        idempotencyKey: "platform/e1/1",
        topic: "order.paid",
        payload: { order: "e1" },
        eventId: "e1",
      });
    }));

  it("the outbox makes deliveries to the channels of alerts only for alerts", () =>
    withStore(dialect, async (store) => {
      await notify(store, "e1");
      await store.alerts.change({
        ...{ kind: "failures", source: "platform", subject: "t", from: 0, isOpen: true, since: T0 },
        ...{ notifiedCount: 1, notifiedAt: T0, message: { topic: "alert.failure_exhausted", payload: {} } },
      });
      expect(await store.outbox.fanOut(["webhook"], T0, 10, ["slack", "pagerduty"])).toBe(2);
      const due = await store.notificationDeliveries.leaseDue(["webhook", "slack", "pagerduty"], lease("a", T0), 10);
      const made = due.map(({ channel, notification }) => `${notification.topic} ${channel}`);
      expect(made.sort()).toEqual([
        "alert.failure_exhausted pagerduty",
        "alert.failure_exhausted slack",
        "alert.failure_exhausted webhook",
        "order.paid webhook",
      ]);
    }));

  it("a notification whose deliveries could not be written stays for the next run", () =>
    withStore(dialect, async (store) => {
      await notify(store, "e1");
      const noChannel = null as unknown as string;
      await expect(store.outbox.fanOut(["webhook", noChannel], T0, 10)).rejects.toThrow(/null/i);
      expect(await store.outbox.fanOut(["webhook"], T0, 10)).toBe(1);
      expect(await store.notificationDeliveries.leaseDue(["webhook"], lease("a", T0), 10)).toHaveLength(1);
    }));

  it("each notification is fanned out once, however many processes ask at the same time", () =>
    withStore(dialect, async (store) => {
      for (let n = 0; n < 20; n += 1) await notify(store, `e${n}`);
      const taken: string[] = [];
      const take = (all: readonly StoredNotification[]) => taken.push(...all.map(({ eventId }) => eventId));
      const counts = await Promise.all([1, 2, 3].map(() => store.outbox.deliverDirectly("log", T0, 20, take)));
      expect(counts.reduce((sum, count) => sum + count)).toBe(20);
      expect(taken.toSorted()).toEqual(Array.from({ length: 20 }, (_, n) => `e${n}`).sort());
      const [first] = await store.notifications.list({ limit: 20 }, { state: "delivered" });
      expect(first?.deliveries).toMatchObject([{ channel: "log", state: "delivered", attempts: 1 }]);
      expect(await store.notificationDeliveries.leaseDue(["log"], lease("a", T0), 10)).toEqual([]);
    }));

  it("a notification is fanned out again where the fan-out failed", () =>
    withStore(dialect, async (store) => {
      await notify(store, "e1");
      const refusing = store.outbox.deliverDirectly("log", T0, 10, () => {
        throw new Error("not now");
      });
      await expect(refusing).rejects.toThrow("not now");
      const taken: string[] = [];
      await store.outbox.deliverDirectly("log", T0, 10, (all) => taken.push(...all.map(({ topic }) => topic)));
      expect(taken).toEqual(["order.paid"]);
    }));

  it("one owner leases a due delivery, until its lease expires", () =>
    withStore(dialect, async (store) => {
      for (let n = 0; n < 20; n += 1) await notify(store, `e${n}`);
      await store.outbox.fanOut(["webhook"], T0, 100);
      const rounds = await Promise.all(
        ["a", "b", "c"].map((owner) => store.notificationDeliveries.leaseDue(["webhook"], lease(owner, T0), 10)),
      );
      const ids = rounds.flat().map(({ id }) => id);
      expect(ids).toHaveLength(20);
      expect(new Set(ids).size).toBe(20);
      expect(await store.notificationDeliveries.leaseDue(["webhook"], lease("d", at(59)), 10)).toEqual([]);
      expect(await store.notificationDeliveries.leaseExpired(["webhook"], lease("d", at(59)))).toBeUndefined();
      expect(await store.notificationDeliveries.leaseExpired(["webhook"], lease("d", at(60)))).toMatchObject({
        attempts: 1,
      });
    }));

  it("deliveries of an unconfigured channel are not touched", () =>
    withStore(dialect, async (store) => {
      await notify(store, "e1");
      await store.outbox.fanOut(["webhook"], T0, 10);
      expect(await store.notificationDeliveries.leaseDue(["email"], lease("a", T0), 10)).toEqual([]);
      expect(await store.outbox.counts()).toEqual({ waiting: 1, dead: 0 });
    }));

  it("each channel settles separately, and a lost lease settles nothing", () =>
    withStore(dialect, async (store) => {
      await notify(store, "e1");
      await store.outbox.fanOut(["email", "webhook"], T0, 10);
      const due = await store.notificationDeliveries.leaseDue(["email", "webhook"], lease("a", T0), 10);
      const idOf = (name: string) => due.find(({ channel }) => channel === name)?.id ?? 0;
      expect(await store.notificationDeliveries.markDelivered([idOf("email")], "b", T0)).toBe(0);
      expect(await store.notificationDeliveries.markDelivered([idOf("email")], "a", at(1))).toBe(1);
      await store.notificationDeliveries.markFailed(idOf("webhook"), "b", "late", null);
      expect(await store.outbox.counts()).toEqual({ waiting: 1, dead: 0 });
      await store.notificationDeliveries.markFailed(idOf("webhook"), "a", "down\u0000", at(5));
      expect(await store.notificationDeliveries.leaseDue(["webhook"], lease("a", at(4)), 10)).toEqual([]);
      expect(await store.notifications.list({ limit: 1 }, {})).toMatchObject([
        {
          deliveries: [
            { channel: "email", state: "delivered", attempts: 1, deliveredAt: at(1).toISOString() },
            { channel: "webhook", state: "waiting", attempts: 1, error: "down\uFFFD" },
          ],
        },
      ]);
      const [again] = await store.notificationDeliveries.leaseDue(["webhook"], lease("a", at(5)), 10);
      expect(again?.attempts).toBe(2);
    }));

  it("a dead delivery stays until an operator revives it, and starts at its first attempt", () =>
    withStore(dialect, async (store) => {
      await notify(store, "e1");
      await store.outbox.fanOut(["webhook"], T0, 10);
      const [due] = await store.notificationDeliveries.leaseDue(["webhook"], lease("a", T0), 10);
      await store.notificationDeliveries.markFailed(due?.id ?? 0, "a", "gone", null);
      expect(await store.outbox.counts()).toEqual({ waiting: 0, dead: 1 });
      const [listed] = await store.notifications.list({ limit: 9 }, { state: "dead" });
      expect(listed?.deliveries).toMatchObject([{ state: "dead", nextAttemptAt: null }]);
      const revive = () => store.outbox.redeliverDead(listed?.id ?? 0, ["webhook"], at(9));
      expect(await revive()).toEqual({ deliveries: 1, notConfigured: [] });
      expect(await revive()).toEqual({ deliveries: 0, notConfigured: [] });
      const [again] = await store.notificationDeliveries.leaseDue(["webhook"], lease("a", at(9)), 10);
      expect(again).toMatchObject({ attempts: 1, notification: { idempotencyKey: "platform/e1/1" } });
    }));

  it("a delivery counts an attempt when it is leased, so that an attempt counts although its process dies", () =>
    withStore(dialect, async (store) => {
      await notify(store, "e1");
      await store.outbox.fanOut(["webhook"], T0, 10);
      await store.notificationDeliveries.leaseDue(["webhook"], lease("died", T0), 10);
      // Beside others, perhaps, of which one may have ended the process: it costs nothing.
      const first = await store.notificationDeliveries.leaseExpired(["webhook"], lease("died too", at(60)));
      expect(first?.attempts).toBe(1);
      const second = await store.notificationDeliveries.leaseExpired(["webhook"], lease("a", at(120)));
      expect(second?.attempts).toBe(2);
      await store.notificationDeliveries.markDead(second?.id ?? 0, "a", "no attempt is left");
      expect(await store.notifications.list({ limit: 1 }, { state: "dead" })).toMatchObject([
        { deliveries: [{ attempts: 1, error: "no attempt is left", nextAttemptAt: null }] },
      ]);
    }));

  it("an attempt whose lease is released does not count, and is leased again at once", () =>
    withStore(dialect, async (store) => {
      await notify(store, "e1");
      await store.outbox.fanOut(["webhook"], T0, 10);
      const put = { ...lease("a", T0), retryAt: at(600) };
      const [due] = await store.notificationDeliveries.leaseDue(["webhook"], put, 10);
      await store.notificationDeliveries.release(due?.id ?? 0, "b");
      expect(await store.notificationDeliveries.leaseDue(["webhook"], lease("c", at(1)), 10)).toEqual([]);
      await store.notificationDeliveries.release(due?.id ?? 0, "a");
      expect(await store.notificationDeliveries.leaseDue(["webhook"], lease("c", at(1)), 10)).toMatchObject([
        { attempts: 1 },
      ]);
    }));

  it("the retention job deletes old delivered notifications from the outbox, and nothing else", () =>
    withStore(dialect, async (store, target) => {
      for (const id of ["done", "open", "dead"]) await notify(store, id);
      await store.outbox.fanOut(["webhook"], T0, 10);
      const due = await store.notificationDeliveries.leaseDue(["webhook"], lease("a", T0), 10);
      for (const { id, notification } of due) {
        if (notification.eventId === "done") await store.notificationDeliveries.markDelivered([id], "a", T0);
        if (notification.eventId === "dead") await store.notificationDeliveries.markFailed(id, "a", "gone", null);
      }
      const future = new Date(Date.now() + 60_000);
      expect(await store.retention.sweep({ callbacks: future, refusedRowsKept: 10, now: T0 })).toMatchObject({
        stale: 1,
      });
      const second = await openTarget(target);
      const kept = await second.store.notifications.list({ limit: 9 }, {});
      await second.store.close();
      expect(kept.map(({ eventId }) => eventId).sort()).toEqual(["dead", "open"]);
    }));
});

describe.each(DIALECTS)("the order of the outbox on %s", (dialect) => {
  it("the outbox fans out and leases the oldest notifications first, up to the limit", () =>
    withStore(dialect, async (store) => {
      const { outbox, notificationDeliveries: deliveries } = store;
      for (const id of ["e1", "e2", "e3"]) await notify(store, id);
      expect(await outbox.fanOut(["webhook"], T0, 1)).toBe(1);
      expect(eventsOf(await deliveries.leaseDue(["webhook"], lease("a", T0), 9))).toEqual(["e1"]);
      const taken: string[] = [];
      const take = (all: readonly StoredNotification[]) => taken.push(...all.map(({ eventId }) => eventId));
      expect(await outbox.deliverDirectly("log", T0, 1, take)).toBe(1);
      expect(taken).toEqual(["e2"]);
    }));

  it("a notification whose mark could not be written has no deliveries, and verify finds no violation", () =>
    withStore(dialect, async (store, target) => {
      await notify(store, "e1");
      await execute(target, REFUSES_MARK[dialect]);
      await expect(store.outbox.fanOut(["webhook"], T0, 9)).rejects.toThrow();
      expect(await countOf(target, "oncehook_deliveries")).toBe(0);
      const { invariants } = await checkTarget(target);
      expect(invariants.filter(({ violations }) => violations > 0)).toEqual([]);
    }));

  it("a notification whose process ended during the fan-out is fanned out to the missing channels", () =>
    withStore(dialect, async (store, target) => {
      await notify(store, "e1");
      await store.outbox.fanOut(["webhook"], T0, 9);
      await execute(target, "UPDATE oncehook_notifications SET fanned_out_at = NULL");
      expect(await store.outbox.fanOut(["webhook", "email"], T0, 9)).toBe(1);
      expect([...(await store.outbox.waitingByChannel())]).toEqual([
        ["email", 1],
        ["webhook", 1],
      ]);
      await execute(target, "UPDATE oncehook_notifications SET fanned_out_at = NULL");
      expect(await store.outbox.deliverDirectly("webhook", T0, 9, () => {})).toBe(1);
      expect(await store.outbox.counts()).toEqual({ waiting: 2, dead: 0 });
    }));

  it("the delivery that has been due for the longest time is leased first", () =>
    withStore(dialect, async (store) => {
      for (const [id, seconds] of [
        ["e1", 10],
        ["e2", 0],
      ] as const) {
        await notify(store, id);
        await store.outbox.fanOut(["webhook"], at(seconds), 9);
      }
      expect(eventsOf(await store.notificationDeliveries.leaseDue(["webhook"], lease("a", at(20)), 1))).toEqual(["e2"]);
    }));

  it("the oldest due deliveries are leased first whatever their channels, up to the limit in all", () =>
    withStore(dialect, async (store) => {
      const channels = ["email:a", "email:b", "webhook"];
      for (const [seconds, channel] of channels.entries()) {
        await notify(store, `e${seconds}`);
        await store.outbox.fanOut([channel], at(10 - seconds), 9);
      }
      const due = () => store.notificationDeliveries.leaseDue(channels, lease("a", at(20)), 2);
      expect(eventsOf(await due()).toSorted()).toEqual(["e1", "e2"]);
      expect(eventsOf(await due())).toEqual(["e0"]);
    }));
});

describe.each(DIALECTS)("a delivery on %s whose process has ended", (dialect) => {
  const leased = async (store: Store, events: readonly string[], retryAt?: Date) => {
    for (const id of events) await notify(store, id);
    await store.outbox.fanOut(["webhook"], T0, 9);
    const given = retryAt === undefined ? lease("a", T0) : { ...lease("a", T0), retryAt };
    return store.notificationDeliveries.leaseDue(["webhook"], given, 9);
  };

  it("one of many processes tries a delivery again, on its channel, when its next attempt is due", () =>
    withStore(dialect, async (store) => {
      await leased(store, ["e1"], at(300));
      const left = (seconds: number, channel = "webhook") =>
        store.notificationDeliveries.leaseExpired([channel], lease(`at ${seconds}`, at(seconds)));
      expect(await left(299)).toBeUndefined();
      expect(await left(300, "email")).toBeUndefined();
      const all = await Promise.all([left(300), left(300), left(300), left(300)]);
      expect(all.filter((one) => one !== undefined)).toHaveLength(1);
    }));

  it("a delivery precedes one that has had more attempts", () =>
    withStore(dialect, async (store) => {
      const [first] = await leased(store, ["e1"]);
      await store.notificationDeliveries.markFailed(first?.id ?? 0, "a", "down", T0, T0);
      await leased(store, ["e2"]);
      const left = await store.notificationDeliveries.leaseExpired(["webhook"], lease("b", at(60)));
      expect([left?.notification.eventId, left?.attempts]).toEqual(["e2", 1]);
    }));

  it("a delivery is charged for no attempt beside others, also after one that it had alone", () =>
    withStore(dialect, async (store) => {
      await leased(store, ["e1"]);
      const alone = await store.notificationDeliveries.leaseExpired(["webhook"], lease("b", at(60)));
      await store.notificationDeliveries.markFailed(alone?.id ?? 0, "b", "down", at(70), at(60));
      expect(await store.notificationDeliveries.leaseDue(["webhook"], lease("c", at(70)), 9)).toMatchObject([
        { attempts: 2 },
      ]);
      expect(await store.notificationDeliveries.leaseExpired(["webhook"], lease("d", at(130)))).toMatchObject({
        attempts: 2,
      });
    }));

  it("a process that has lost its lease does not give a delivery up", () =>
    withStore(dialect, async (store) => {
      const [due] = await leased(store, ["e1"]);
      await store.notificationDeliveries.markDead(due?.id ?? 0, "b", "late");
      expect(await store.outbox.counts()).toEqual({ waiting: 1, dead: 0 });
    }));

  it("a delivery shows no error after a later attempt was delivered", () =>
    withStore(dialect, async (store) => {
      const [due] = await leased(store, ["e1"]);
      await store.notificationDeliveries.markFailed(due?.id ?? 0, "a", "down", at(5), T0);
      await store.notificationDeliveries.leaseDue(["webhook"], lease("b", at(5)), 9);
      await store.notificationDeliveries.markDelivered([due?.id ?? 0], "b", at(6));
      const [listed] = await store.notifications.list({ limit: 1 }, {});
      expect(listed?.deliveries).toMatchObject([{ state: "delivered", attempts: 2, error: null }]);
    }));

  it("a delivery keeps its times where the clocks of two processes are seconds apart", () =>
    withStore(dialect, async (store) => {
      const [failed] = await leased(store, ["e1"]);
      await store.notificationDeliveries.markFailed(failed?.id ?? 0, "a", "down", at(25), at(9));
      await notify(store, "e2");
      await store.outbox.fanOut(["webhook"], T0, 9);
      // Of a process whose clock is 50 seconds ahead.
      await store.notificationDeliveries.leaseDue(["webhook"], { ...lease("b", at(50)), now: T0, until: at(110) }, 9);
      await store.notificationDeliveries.repairTimes(["webhook"], 60_000, T0);
      expect(await store.notificationDeliveries.leaseDue(["webhook"], lease("c", at(24)), 9)).toEqual([]);
      expect(await store.notificationDeliveries.leaseDue(["webhook"], lease("c", at(25)), 9)).toHaveLength(1);
      expect(await store.notificationDeliveries.leaseExpired(["webhook"], lease("d", at(84)))).toBeUndefined();
    }));

  it("a delivery keeps a lease that is longer than those of another channel", () =>
    withStore(dialect, async (store) => {
      await leased(store, ["e1"]);
      await store.notificationDeliveries.repairTimes(["email"], 1_000, T0);
      expect(await store.notificationDeliveries.leaseExpired(["webhook"], lease("b", at(59)))).toBeUndefined();
    }));
});
