import { describe, expect, it } from "vitest";
import { evaluateAlerts } from "../../src/alerts/evaluate-alerts.ts";
import type { Store } from "../../src/store/index.ts";
import { recordedLog } from "../observability/recorded-log.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { overriding } from "../support/overriding.ts";

const NOON = new Date("2026-03-04T12:00:00.000Z");
const HOUR = 3_600_000;
const at = (hours: number) => new Date(NOON.getTime() + hours * HOUR);
const KEY = { kind: "failures", source: "stripe", subject: "invoice.paid" } as const;
const BY = { by: "ana@example.com", reason: "the handler is being mended" };

/** Evaluates the alert at an hour with this number of exhausted failures; returns the states of its new notifications. */
async function evaluated(store: Store, hours: number, count: number, muted = 0): Promise<unknown[]> {
  const type = { source: KEY.source, eventType: KEY.subject, count, muted };
  const types = count + muted === 0 ? [] : [type];
  const alerts = overriding(store.alerts, { exhausted: async () => ({ types, isComplete: true }) });
  const before = await store.notifications.list({ limit: 100 }, {});
  const now = at(hours);
  const rules = { acceptedLimitMs: 1, silenceFloor: 20, isHandled: () => true, refusedSources: store.refusedSources };
  const deps = { store: alerts, kinds: new Set(["failures"] as const), clock: { now: () => now }, log: recordedLog() };
  await evaluateAlerts({ ...deps, ...rules }, "failures", now, at(-24));
  const after = await store.notifications.list({ limit: 100 }, {});
  return after.slice(0, after.length - before.length).map(({ payload }) => `${payload.state} ${payload.count}`);
}

const mute = (store: Store, hours: number) => store.alerts.mute(KEY, { until: at(hours), ...BY });

describe.each(DIALECTS)("a muted alert on %s", (dialect) => {
  it("it sends nothing while it is muted, and is reported with its number when the mute ends", () =>
    withStore(dialect, async (store) => {
      expect(await evaluated(store, 0, 3)).toEqual(["started 3"]);
      await mute(store, 4);
      expect(await evaluated(store, 1, 3)).toEqual([]);
      expect(await evaluated(store, 3, 9)).toEqual([]);
      expect((await store.alerts.list())[0]).toMatchObject({ isOpen: true, mute: { until: at(4), ...BY } });
      expect(await evaluated(store, 4, 9)).toEqual(["grown 9"]);
      const [alert] = await store.alerts.list();
      expect(alert?.mute).toBeNull();
      const last = (await store.notifications.byIds([alert?.notificationId ?? 0])).get(alert?.notificationId ?? 0);
      expect(last).toMatchObject({ topic: "alert.failure_exhausted", payload: { state: "grown", count: 9 } });
      expect(await evaluated(store, 4.1, 9)).toEqual([]);
    }));

  it("an unchanged one is reported as still open when its mute ends, once", () =>
    withStore(dialect, async (store) => {
      await evaluated(store, 0, 3);
      await mute(store, 2);
      expect(await evaluated(store, 2, 3)).toEqual(["still_open 3"]);
      expect(await evaluated(store, 2.1, 3)).toEqual([]);
    }));

  it("one that starts during the mute is reported afterwards; one that starts and ends in it never is", () =>
    withStore(dialect, async (store) => {
      await evaluated(store, 0, 1);
      await evaluated(store, 1, 0);
      await mute(store, 5);
      expect(await evaluated(store, 2, 4)).toEqual([]);
      expect(await evaluated(store, 3, 0)).toEqual([]);
      expect(await evaluated(store, 6, 0)).toEqual([]);
      await mute(store, 9);
      expect(await evaluated(store, 7, 4)).toEqual([]);
      expect(await evaluated(store, 9, 4)).toEqual(["started 4"]);
    }));

  it("the end of an alert during a mute is reported afterwards, so that an incident does not stay open", () =>
    withStore(dialect, async (store) => {
      await evaluated(store, 0, 3);
      await mute(store, 2);
      expect(await evaluated(store, 1, 0)).toEqual([]);
      expect((await store.alerts.list())[0]).toMatchObject({ isOpen: false, notifiedOpen: true });
      expect(await evaluated(store, 3, 0)).toEqual(["resolved 0"]);
      expect(await evaluated(store, 4, 0)).toEqual([]);
    }));

  it("an operator's unmute ends the mute at once, and is nothing for one that is not muted", () =>
    withStore(dialect, async (store) => {
      await evaluated(store, 0, 3);
      await mute(store, 9);
      expect(await store.alerts.unmute(KEY, at(1))).toBe(true);
      expect(await store.alerts.unmute(KEY, at(1))).toBe(false);
      expect(await evaluated(store, 1, 3)).toEqual(["still_open 3"]);
    }));

  it("failures of a muted problem start no alert, and resolve none", () =>
    withStore(dialect, async (store) => {
      expect(await evaluated(store, 0, 0, 3)).toEqual([]);
      expect(await store.alerts.list()).toEqual([]);
      expect(await evaluated(store, 1, 3)).toEqual(["started 3"]);
      expect(await evaluated(store, 2, 0, 3)).toEqual([]);
      expect((await store.alerts.list())[0]).toMatchObject({ isOpen: true });
      expect(await evaluated(store, 3, 0)).toEqual(["resolved 0"]);
    }));

  it("a mute stops the notification of an evaluation under way, and an alert that never started cannot be muted", () =>
    withStore(dialect, async ({ alerts }) => {
      expect(await alerts.mute(KEY, { until: at(1), ...BY })).toBe(false);
      const opened = { ...KEY, isOpen: true, since: NOON, notifiedCount: 1, notifiedAt: NOON };
      await alerts.change({ ...opened, from: 0 });
      await alerts.mute(KEY, { until: at(1), ...BY });
      const message = { topic: "alert.failure_exhausted", payload: {} };
      expect(await alerts.change({ ...opened, from: 1, notifiedCount: 2, message })).toBe(false);
    }));
});
