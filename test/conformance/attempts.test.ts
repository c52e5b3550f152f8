import { describe, expect, it } from "vitest";
import type { NewAttempt } from "../../src/store/index.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { committing, newRecord } from "../support/effects.ts";
import { logRow } from "../support/log-row.ts";
import { runOnce } from "../support/once.ts";

const T0 = new Date("2026-01-01T00:00:00.000Z");
const at = (seconds: number) => new Date(T0.getTime() + seconds * 1000);
const KEY = { source: "platform", eventId: "e1" };
const ALL = { after: 0, limit: 100 };

const attempt = (over: Partial<NewAttempt> = {}): NewAttempt => ({
  ...KEY,
  startedAt: T0,
  trigger: "retry",
  outcome: "handler_failed",
  error: "Error: down\n    at handle",
  durationMs: 1.5,
  ...over,
});

describe.each(DIALECTS)("the history of an event on %s", (dialect) => {
  it("the history keeps its attempts oldest first, in stretches, and no other event's", () =>
    withStore(dialect, async ({ attempts }) => {
      await attempts.append(attempt());
      await attempts.append(attempt({ trigger: "bulk", outcome: "success", error: null, startedAt: at(60) }));
      await attempts.append(attempt({ source: "oauth" }));
      await attempts.append(attempt({ eventId: "e2", error: "a NUL \u0000" }));
      const [first, second, ...more] = await attempts.list(KEY, ALL);
      expect(first).toEqual({ ...attempt(), id: first!.id, startedAt: T0.toISOString() });
      expect(second).toMatchObject({ trigger: "bulk", outcome: "success", error: null });
      expect(more).toEqual([]);
      expect(await attempts.list(KEY, { after: first!.id, limit: 1 })).toEqual([second]);
      expect(await attempts.list({ ...KEY, eventId: "e2" }, ALL)).toMatchObject([{ error: "a NUL \uFFFD" }]);
    }));

  it("the history has an event's callbacks oldest first, including the one that committed with its record", () =>
    withStore(dialect, async (store) => {
      const row = (requestId: string, over: object = {}) => logRow({ requestId, ...KEY, ...over });
      await store.appendCallbacks([row("failed", { outcome: "handler_failed", responseStatus: 500 })]);
      await runOnce(store, newRecord("e1"), async () => ({ result: {}, logEntry: row("success") }), committing());
      await store.appendCallbacks([row("again"), row("other event", { eventId: "e2" })]);
      await store.appendCallbacks([row("other source", { source: "oauth" })]);
      const rows = await store.callbacks.ofEvent(KEY, ALL);
      expect(rows.map(({ requestId }) => requestId)).toEqual(["failed", "success", "again"]);
      const [first] = await store.callbacks.ofEvent(KEY, { after: 0, limit: 1 });
      const rest = await store.callbacks.ofEvent(KEY, { after: first!.id, limit: 1 });
      expect(rest.map(({ requestId }) => requestId)).toEqual(["success"]);
      const last = await store.callbacks.ofEvent(KEY, { after: rest[0]!.id, limit: 9 });
      expect(last.map(({ requestId }) => requestId)).toEqual(["again"]);
    }));

  it("the history finds its notifications among those of other times", () =>
    withStore(
      dialect,
      async (store, target) => {
        const clocks = [0, 3_600, 7_200, 10_800];
        for (const [index, seconds] of clocks.entries()) {
          time.seconds = seconds;
          await runOnce(
            store,
            newRecord(`e${index}`),
            async ({ enqueue }) => {
              await enqueue({ topic: "first", payload: { index } });
              await enqueue({ topic: "second", payload: {} });
              return { result: {} };
            },
            committing(),
          );
        }
        expect(target.dialect).toBe(dialect);
        await store.outbox.fanOut(["webhook"], at(10_800), 10);
        for (const index of clocks.keys()) {
          const [record] = await store.records.list({ limit: 1 }, { eventId: `e${index}` });
          const found = await store.notifications.ofEvent(record!, 10);
          expect(found.map(({ topic, eventId }) => [topic, eventId])).toEqual([
            ["first", `e${index}`],
            ["second", `e${index}`],
          ]);
          expect(found[0]).toMatchObject({ payload: { index }, deliveries: [{ channel: "webhook" }] });
          expect(await store.notifications.ofEvent(record!, 1)).toHaveLength(1);
        }
      },
      { clock: { now: () => at(time.seconds) } },
    ));

  it("the history finds notifications by their source, also with clocks seconds apart or a slow handler", () =>
    withStore(
      dialect,
      async (store) => {
        const seconds = [100, 96, 101, 97, 102, 98, 103, 99];
        for (const [index, second] of seconds.entries())
          for (const source of ["platform", "oauth"]) {
            time.seconds = second;
            await runOnce(
              store,
              newRecord(`e${index}`, { source }),
              async ({ enqueue }) => {
                if (index === seconds.length - 1) time.seconds += 60;
                await enqueue({ topic: source, payload: {} });
                return { result: {} };
              },
              committing(),
            );
          }
        const records = await store.records.list({ limit: 99 }, {});
        expect(records).toHaveLength(2 * seconds.length);
        for (const record of records)
          expect((await store.notifications.ofEvent(record, 10)).map(({ topic }) => topic)).toEqual([record.source]);
      },
      { clock: { now: () => at(time.seconds) } },
    ));

  it("the history finds notifications that a handler requested long before it ended", () =>
    withStore(
      dialect,
      async (store) => {
        await store.settings.noteLongestRun(60_000);
        const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        const notify = (eventId: string, then: () => Promise<void> = async () => {}) =>
          runOnce(
            store,
            newRecord(eventId),
            async ({ enqueue }) => {
              await enqueue({ topic: eventId, payload: {} });
              await then();
              return { result: {} };
            },
            committing(),
          );
        time.seconds = 0;
        // On SQLite one handler runs after the other.
        const waiting = async () => {
          asked.resolve();
          if (dialect === "postgres") await gate.promise;
        };
        const slow = notify("slow", waiting);
        await asked.promise;
        time.seconds = 40;
        const events = ["a", "b", "c", "d", "e", "f"];
        for (const eventId of events.slice(0, 3)) await notify(eventId);
        gate.resolve();
        await slow;
        for (const eventId of events.slice(3)) await notify(eventId);
        for (const eventId of [...events, "slow"]) {
          const [record] = await store.records.list({ limit: 1 }, { eventId });
          const found = await store.notifications.ofEvent(record!, 10);
          expect(found.map(({ topic }) => topic)).toEqual([eventId]);
        }
      },
      { clock: { now: () => at(time.seconds) } },
    ));

  it("the history of an event without attempts is empty", () =>
    withStore(dialect, async (store) => {
      const never = { ...KEY, createdAt: T0.toISOString(), processedAt: T0.toISOString() };
      expect(await store.notifications.ofEvent(never, 10)).toEqual([]);
      expect(await store.callbacks.ofEvent(KEY, ALL)).toEqual([]);
      expect(await store.attempts.list(KEY, ALL)).toEqual([]);
    }));

  it("the history is deleted with the callback log", () =>
    withStore(dialect, async (store) => {
      await store.attempts.append(attempt());
      await store.attempts.append(attempt({ startedAt: at(100), outcome: "success", error: null }));
      const limits = { callbacks: at(50), refusedRowsKept: 10, now: at(3_600) };
      expect(await store.retention.sweep(limits)).toMatchObject({ stale: 1 });
      expect(await store.attempts.list(KEY, ALL)).toMatchObject([{ outcome: "success" }]);
    }));
});

const time = { seconds: 0 };
