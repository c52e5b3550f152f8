import { describe, expect, it } from "vitest";
import type { NotificationDelivery, Store } from "../../src/store/index.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { committing, newRecord } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { runOnce } from "../support/once.ts";

const T0 = new Date("2026-01-01T00:00:00.000Z");
const at = (seconds: number) => new Date(T0.getTime() + seconds * 1000);
const LEASE = { owner: "a", now: T0, until: at(60) };
const BOTH = ["email", "webhook"];
const MANY = 40;

async function notify(store: Store, eventId: string): Promise<void> {
  await runOnce(
    store,
    newRecord(eventId),
    async ({ enqueue }) => {
      await enqueue({ topic: "order.paid", payload: {} });
      return { result: {} };
    },
    committing(),
  );
}

/** Commits notifications, one of each event, and leases their deliveries. */
async function leased(store: Store, events: readonly string[], channels: readonly string[] = BOTH) {
  for (const eventId of events) await notify(store, eventId);
  await store.outbox.fanOut(channels, T0, 100);
  return store.notificationDeliveries.leaseDue(channels, LEASE, 200);
}

async function listed(store: Store, state: NotificationDelivery["state"]): Promise<string[]> {
  return (await store.notifications.list({ limit: 100 }, { state })).map(({ eventId }) => eventId);
}

const sweptNow = (store: Store) =>
  store.retention.sweep({ callbacks: new Date(Date.now() + 60_000), refusedRowsKept: 10, now: T0 });

describe.each(DIALECTS)("how far a notification is, on %s", (dialect) => {
  it("a notification's state is right also when all its deliveries end at the same moment", () =>
    withStore(dialect, async (store) => {
      const events = Array.from({ length: MANY }, (_, n) => `e${n}`);
      const due = await leased(store, events);
      expect(due).toHaveLength(2 * MANY);
      await Promise.all(due.map(({ id }) => store.notificationDeliveries.markDelivered([id], "a", at(1))));
      expect(await listed(store, "waiting")).toEqual([]);
      expect(await listed(store, "delivered")).toHaveLength(MANY);
      expect(await sweptNow(store)).toMatchObject({ stale: MANY });
    }));

  it("a notification's state is known for more deliveries than one statement has parameters", () =>
    withStore(dialect, async (store) => {
      const channels = Array.from({ length: 100 }, (_, n) => `email:${n}@example.org`);
      await runOnce(
        store,
        newRecord("e1"),
        async ({ enqueue }) => {
          for (let n = 0; n < 200; n += 1) await enqueue({ topic: "order.paid", payload: { n } });
          return { result: {} };
        },
        committing(),
      );
      expect(await store.outbox.fanOut(channels, T0, 200)).toBe(200);
      expect(await store.outbox.counts()).toEqual({ waiting: 20_000, dead: 0 });
    }));

  it("a notification's state is right also when a process died after it stored the end of a delivery", () =>
    withStore(dialect, async (store, target) => {
      await leased(store, ["e1"], ["webhook"]);
      await execute(target, "UPDATE oncehook_deliveries SET state = 'delivered', lease_owner = NULL");
      expect(await listed(store, "waiting")).toEqual([]);
      expect(await listed(store, "delivered")).toEqual(["e1"]);
      expect(await sweptNow(store)).toMatchObject({ stale: 1 });
    }));

  it("a notification is in the list of each state that one of its deliveries has", () =>
    withStore(dialect, async (store) => {
      for (const { id, channel, notification } of await leased(store, ["mixed", "done"])) {
        if (notification.eventId === "mixed" && channel === "email")
          await store.notificationDeliveries.markFailed(id, "a", "no", null);
        else await store.notificationDeliveries.markDelivered([id], "a", at(1));
      }
      await notify(store, "fresh");
      expect(await listed(store, "dead")).toEqual(["mixed"]);
      expect(await listed(store, "delivered")).toEqual(["done", "mixed"]);
      expect(await listed(store, "waiting")).toEqual(["fresh"]);
    }));

  it("notifications are listed in pages, and those without deliveries count as waiting", () =>
    withStore(dialect, async (store) => {
      await leased(store, ["e1", "e2", "e3"]);
      await notify(store, "e4");
      const pages: string[][] = [];
      let before: { before?: number } = {};
      for (let page = 0; page < 2; page += 1) {
        const rows = await store.notifications.list({ limit: 2, ...before }, { state: "waiting" });
        pages.push(rows.map(({ eventId }) => eventId));
        before = { before: rows.at(-1)?.id ?? 0 };
      }
      expect(pages).toEqual([
        ["e4", "e3"],
        ["e2", "e1"],
      ]);
    }));
});

describe.each(DIALECTS)("the pages of the outbox on %s", (dialect) => {
  it.each([undefined, "waiting", "dead"] as const)(
    "pages name each notification once, newest first, and end with the last one: state %s",
    (state) =>
      withStore(dialect, async (store) => {
        const events = ["e1", "e2", "e3"];
        for (const { id } of await leased(store, events))
          await store.notificationDeliveries.markFailed(id, "a", "no", null);
        if (state === "waiting") {
          for (const eventId of ["e4", "e5", "e6"]) await notify(store, eventId);
          events.splice(0, 3, "e4", "e5", "e6");
        }
        const pages: string[][] = [];
        for (let before: { before?: number } | null = {}; before !== null && pages.length < 9; ) {
          const page = { limit: 1, budgetMs: 60_000, ...before };
          const { rows, next } = await store.notifications.search(state === undefined ? {} : { state }, page);
          pages.push(rows.map(({ eventId }) => eventId));
          before = next === null ? null : { before: next };
        }
        expect(pages).toEqual(events.toReversed().map((eventId) => [eventId]));
      }),
  );
});

describe.each(DIALECTS)("deliveries that an operator decides about, on %s", (dialect) => {
  it("dead deliveries are not revived where their channel is not configured, and are named", () =>
    withStore(dialect, async (store) => {
      for (const { id } of await leased(store, ["e1"]))
        await store.notificationDeliveries.markFailed(id, "a", "no", null);
      const [row] = await store.notifications.list({ limit: 1 }, {});
      expect(await store.outbox.redeliverDead(row?.id ?? 0, ["webhook"], at(1))).toEqual({
        deliveries: 1,
        notConfigured: ["email"],
      });
      expect(await store.outbox.counts()).toEqual({ waiting: 1, dead: 1 });
    }));

  it("waiting and dead deliveries are discarded, except while one of them is attempted", () =>
    withStore(dialect, async (store) => {
      const due = await leased(store, ["e1"], ["email", "log", "webhook"]);
      const idOf = (name: string) => due.find(({ channel }) => channel === name)?.id ?? 0;
      const [row] = await store.notifications.list({ limit: 1 }, {});
      const discard = (channel?: string) => store.outbox.discard(row?.id ?? 0, channel, at(2));
      expect(await discard()).toBe("leased");
      await store.notificationDeliveries.markFailed(idOf("email"), "a", "no", null);
      await store.notificationDeliveries.markDelivered([idOf("log")], "a", at(1));
      expect(await discard("log")).toBe(0);
      expect(await discard()).toBe(1);
      await store.notificationDeliveries.release(idOf("webhook"), "a");
      expect(await discard("email")).toBe(0);
      expect(await discard("webhook")).toBe(1);
      const [left] = await store.notifications.list({ limit: 1 }, {});
      expect(left?.deliveries).toMatchObject([{ channel: "log", state: "delivered" }]);
      expect(await sweptNow(store)).toMatchObject({ stale: 1 });
    }));

  it("a redelivery or a discard changes the deliveries of one notification alone", () =>
    withStore(dialect, async (store) => {
      for (const { id } of await leased(store, ["e1", "e2"]))
        await store.notificationDeliveries.markFailed(id, "a", "no", null);
      const [second, first] = (await store.notifications.list({ limit: 2 }, {})).map(({ id }) => id);
      expect(await store.outbox.redeliverDead(first ?? 0, ["webhook"], at(1))).toEqual({
        deliveries: 1,
        notConfigured: ["email"],
      });
      expect(await store.outbox.counts()).toEqual({ waiting: 1, dead: 3 });
      expect(await store.outbox.discard(second ?? 0, undefined, at(1))).toBe(2);
      expect(await store.outbox.discard(second ?? 0, undefined, at(1))).toBe(0);
      expect(await store.outbox.counts()).toEqual({ waiting: 1, dead: 1 });
    }));

  it("successful deliveries are not revived, on a configured channel or any other", () =>
    withStore(dialect, async (store) => {
      for (const { id, channel } of await leased(store, ["e1"], ["email", "log", "sms", "webhook"])) {
        const isDead = channel === "sms" || channel === "email";
        await (isDead
          ? store.notificationDeliveries.markFailed(id, "a", "no", null)
          : store.notificationDeliveries.markDelivered([id], "a", at(1)));
      }
      const [row] = await store.notifications.list({ limit: 1 }, {});
      expect(await store.outbox.redeliverDead(row?.id ?? 0, ["webhook"], at(1))).toEqual({
        deliveries: 0,
        notConfigured: ["email", "sms"],
      });
    }));

  it("waiting deliveries are counted by channel", () =>
    withStore(dialect, async (store) => {
      const due = await leased(store, ["e1", "e2"]);
      await store.notificationDeliveries.markDelivered([due[0]?.id ?? 0], "a", at(1));
      const counts = await store.outbox.waitingByChannel();
      expect([...counts.values()].sort()).toEqual([1, 2]);
      expect([...counts.keys()]).toEqual(BOTH);
    }));
});
