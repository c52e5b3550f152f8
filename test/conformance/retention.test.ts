import { describe, expect, it } from "vitest";
import { takeOrder } from "../../src/store/index.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { committing, newRecord } from "../support/effects.ts";
import { newFailure } from "../support/failure.ts";
import { listCallbacks } from "../support/list-callbacks.ts";
import { logRow } from "../support/log-row.ts";
import { runOnce } from "../support/once.ts";

const T0 = new Date("2026-01-01T00:00:00.000Z");
const at = (seconds: number) => new Date(T0.getTime() + seconds * 1000);
const WEEK = 7 * 86_400;
const LIMITS = { callbacks: T0, refusedRowsKept: 10 };

describe.each(DIALECTS)("the retention job on %s", (dialect) => {
  it("the retention job keeps a notification without deliveries, however old it is", () =>
    withStore(dialect, async (store) => {
      await runOnce(
        store,
        newRecord("e1"),
        async ({ enqueue }) => {
          await enqueue({ topic: "t", payload: {} });
          return { result: {} };
        },
        committing(),
      );
      const callbacks = new Date(Date.now() + 60_000);
      expect(await store.retention.sweep({ ...LIMITS, callbacks, now: callbacks })).toMatchObject({
        stale: 0,
      });
      expect(await store.notifications.list({ limit: 9 }, {})).toHaveLength(1);
    }));

  it("the retention job keeps a prepare result for a week, and longer for a failure of its own source alone", () =>
    withStore(dialect, async (store) => {
      for (const source of ["platform", "oauth"])
        await store.preparations.claim({ source, eventId: "e1" }, { owner: "a", now: T0, until: at(30) });
      expect(await store.retention.sweep({ ...LIMITS, now: at(WEEK) })).toMatchObject({ stale: 0 });
      await store.failures.record(newFailure({ source: "platform", eventId: "e1" }, null), T0);
      expect(await store.retention.sweep({ ...LIMITS, now: at(WEEK + 1) })).toMatchObject({ stale: 1 });
      const claim = { owner: "b", now: at(1), until: at(31) };
      const left = await store.preparations.claim({ source: "platform", eventId: "e1" }, claim);
      expect(left.state).toBe("leased");
    }));

  it("the retention job deletes an order key that was not touched for as long as records and the log are kept", () =>
    withStore(dialect, async (store) => {
      const touch = (eventId: string, orderKey: string, touchedAt: Date) =>
        runOnce(
          store,
          newRecord(eventId),
          async ({ tx }) => {
            const order = { source: "shop", orderKey, at: 1, sequence: null, staleBy: undefined };
            await takeOrder(tx, order, touchedAt);
            return { result: {} };
          },
          committing(),
        );
      await touch("e1", "old", at(10));
      await touch("e2", "young", at(30));
      const limits = { refusedRowsKept: 10, now: at(60), callbacks: at(20) };
      expect(await store.retention.sweep({ ...limits, records: at(5) })).toMatchObject({ stale: 0 });
      expect(await store.retention.sweep({ ...limits, callbacks: at(40), records: at(20) })).toMatchObject({
        stale: 1,
      });
      expect(await store.retention.sweep(limits)).toMatchObject({ stale: 0 });
      expect(await store.retention.sweep({ ...limits, callbacks: at(40) })).toMatchObject({ stale: 1 });
    }));

  it("the retention job keeps the records of an untimed source, of its named handlers too", () =>
    withStore(dialect, async (store) => {
      for (const source of ["github", "github#audit", "githubs", "last"])
        await runOnce(store, { ...newRecord("e1"), source }, async () => ({ result: {} }), committing());
      const records = new Date(Date.now() + 60_000);
      await store.retention.sweep({ ...LIMITS, records, now: records, untimedSources: ["github"] });
      const kept = await store.records.list({ limit: 9 }, {});
      expect(kept.map(({ source }) => source).toSorted()).toEqual(["github", "github#audit", "last"]);
    }));

  it("the retention job makes no further step once its process stops, and the next sweep continues", () =>
    withStore(dialect, async (store) => {
      const old = logRow({ receivedAt: T0.toISOString() });
      await store.appendCallbacks(Array.from({ length: 1_200 }, () => old));
      await store.appendCallbacks([logRow({ requestId: "new", receivedAt: at(100).toISOString() })]);
      await store.redirectStates.register("hash", at(10), T0);
      const limits = { callbacks: at(60), refusedRowsKept: 10, refusedBytes: 1, now: at(60) };
      let steps = 0;
      const isStopping = () => {
        steps += 1;
        return steps > 1;
      };
      expect(await store.retention.sweep(limits, isStopping)).toEqual({
        callbacks: 1_000,
        records: 0,
        stale: 0,
      });
      const { refusedBytes: _unbounded, ...next } = limits;
      expect(await store.retention.sweep(next)).toMatchObject({ callbacks: 200, stale: 1 });
    }));

  it("the retention job deletes old callbacks around one whose clock was ahead, which stays", () =>
    withStore(dialect, async (store) => {
      const cameAt = (requestId: string, seconds: number) =>
        logRow({ requestId, receivedAt: at(seconds).toISOString() });
      const ahead = cameAt("clock ahead", 3_600);
      await store.appendCallbacks([cameAt("old", 0), ahead, cameAt("old too", 1), cameAt("new", 60)]);
      expect(await store.retention.sweep({ ...LIMITS, callbacks: at(60), now: at(60) })).toMatchObject({
        callbacks: 2,
      });
      const left = await listCallbacks(store, { limit: 9 });
      expect(left.map(({ requestId }) => requestId)).toEqual(["new", "clock ahead"]);
    }));
});
