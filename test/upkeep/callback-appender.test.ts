import { expect, it } from "vitest";
import { type CallbackFilter, type CallbackLogEntry, logEntryBytes } from "../../src/domain/index.ts";
import { createCallbackLog } from "../../src/observability/index.ts";
import type { Store } from "../../src/store/index.ts";
import { createCallbackAppender } from "../../src/upkeep/retention.ts";
import { recordedLog } from "../observability/recorded-log.ts";
import { describeFullOnPostgres, withStore } from "../support/databases.ts";
import { listCallbacks } from "../support/list-callbacks.ts";
import { logRow } from "../support/log-row.ts";

const START = Date.parse("2026-05-06T07:00:00.000Z");
const MINUTE = 60;
const at = (seconds: number) => new Date(START + seconds * 1_000);
const cameAt = (requestId: string, seconds: number): CallbackLogEntry =>
  logRow({ requestId, receivedAt: at(seconds).toISOString() });

const append = (store: Store, rows: readonly CallbackLogEntry[], now: Date) =>
  createCallbackAppender(store, Number.POSITIVE_INFINITY, { now: () => now }, recordedLog())(rows);

/** One callback every five minutes, stored as it came: so few that a search by time asks for the time of each. */
async function fresh(store: Store, from: number, to: number): Promise<void> {
  for (let minute = from; minute < to; minute += 5)
    await append(store, [cameAt(`fresh ${minute}`, minute * MINUTE)], at(minute * MINUTE));
}

async function found(store: Store, filter: CallbackFilter): Promise<readonly string[]> {
  return (await listCallbacks(store, { limit: 1_000 }, filter)).map(({ requestId }) => requestId).reverse();
}

/** Half an hour of callbacks, ten minutes without a database after it, and half an hour once more. */
async function outage(store: Store): Promise<string[]> {
  await fresh(store, 0, 30);
  await fresh(store, 40, 41);
  const waited = [30, 31, 32, 33, 34, 35].map((minute) => cameAt(`waited ${minute}`, minute * MINUTE));
  await append(store, waited, at(40 * MINUTE + 1));
  await fresh(store, 45, 70);
  return waited.map(({ requestId }) => requestId);
}

describeFullOnPostgres("callbacks that waited for the database on %s", (dialect) => {
  it("a search by time finds delayed callbacks, although later ones were stored before them", () =>
    withStore(dialect, async (store) => {
      const waited = await outage(store);
      const during = { from: at(30 * MINUTE).toISOString(), to: at(36 * MINUTE).toISOString() };
      expect(await found(store, during)).toEqual(waited);
    }));

  it("delayed callbacks do not change the search results for other times", () =>
    withStore(dialect, async (store) => {
      // Another process had its database all the time.
      await fresh(store, 0, 40);
      const old = [0, 1, 2, 3, 4, 5].map((second) => cameAt(`waited ${second}`, 10 * MINUTE + second));
      await append(store, old, at(40 * MINUTE));
      await fresh(store, 40, 60);
      for (const minute of [5, 15, 20, 25, 30, 35, 40, 55]) {
        const filter = {
          from: at(minute * MINUTE).toISOString(),
          to: at((minute + 1) * MINUTE).toISOString(),
        };
        expect(await found(store, filter)).toEqual([`fresh ${minute}`]);
      }
      expect(await found(store, { from: at(20 * MINUTE).toISOString() })).toHaveLength(8);
    }));

  it("a search by time finds delayed callbacks after a handler that used its whole time limit", () =>
    withStore(dialect, async (store) => {
      await store.settings.noteLongestRun(90_000);
      await store.settings.noteLongestRun(600_000);
      await store.settings.noteLongestRun(30_000);
      await fresh(store, 0, 15);
      await store.appendCallbacks([cameAt("slow", 3 * MINUTE)]);
      await fresh(store, 15, 60);
      const filter = { from: at(2 * MINUTE).toISOString(), to: at(4 * MINUTE).toISOString() };
      expect(await found(store, filter)).toEqual(["slow"]);
    }));

  it("the mark of an outage is deleted together with the callbacks around it", () =>
    withStore(dialect, async (store) => {
      await outage(store);
      const sweep = (seconds: number) =>
        store.retention.sweep({ callbacks: at(seconds), refusedRowsKept: 0, now: at(0) });
      // Others that came as late are kept still.
      expect((await sweep(33 * MINUTE)).stale).toBe(0);
      expect((await sweep(86_400)).stale).toBe(1);
      expect((await sweep(86_400)).stale).toBe(0);
    }));

  it("a search by time finds callbacks that could not be stored at the first attempt", () =>
    withStore(dialect, async (store) => {
      await fresh(store, 0, 20);
      await store.callbacks.noteLate(at(10 * MINUTE), at(20 * MINUTE));
      await fresh(store, 20, 50);
      await append(store, [cameAt("waited", 10 * MINUTE)], at(50 * MINUTE));
      await fresh(store, 50, 70);
      const filter = { from: at(10 * MINUTE).toISOString(), to: at(11 * MINUTE).toISOString() };
      expect(await found(store, filter)).toEqual(["fresh 10", "waited"]);
    }));
});

describeFullOnPostgres("refused requests in the log on %s", (dialect) => {
  it("refused requests exceed their bytes by an eighth at most, however many arrive between two retention jobs", () =>
    withStore(dialect, async (store) => {
      const refusedBytes = 160_000;
      const append = createCallbackAppender(store, refusedBytes, { now: () => at(0) }, recordedLog());
      const requestBody = "x".repeat(1_600);
      const row = (index: number) => logRow({ requestId: `r${index}`, requestBody, receivedAt: at(0).toISOString() });
      await append([logRow({ eventId: "e1", requestBody, receivedAt: at(0).toISOString() })]);
      for (let index = 0; index < 200; index += 10)
        await append(Array.from({ length: 10 }, (_, more) => row(index + more)));
      const left = await listCallbacks(store, { limit: 1_000 });
      const most = (refusedBytes * 9) / 8 / logEntryBytes(row(0));
      expect(left.length).toBeGreaterThan(60);
      expect(left.length).toBeLessThanOrEqual(most + 1);
      expect([left[0]?.requestId, left.at(-1)?.eventId]).toEqual(["r199", "e1"]);
    }));

  it("refused requests are stored although old ones cannot be deleted, and a log line says so", async () => {
    const log = recordedLog();
    const appended: string[] = [];
    const store = {
      appendCallbacks: async (rows: readonly CallbackLogEntry[]) =>
        void appended.push(...rows.map((row) => row.requestId)),
      retention: { trimRefused: () => Promise.reject(new Error("away")) },
    } as unknown as Store;
    const append = createCallbackAppender(store, 100, { now: () => at(0) }, log);
    await append([cameAt("refused", 0)]);
    expect(appended).toEqual(["refused"]);
    expect(log.lines).toMatchObject([{ level: "warn", fields: { err: new Error("away") } }]);
  });
});

describeFullOnPostgres("a log entry that the database refuses on %s", (dialect) => {
  it("a log entry that the database refuses is dropped and counted, and all others are stored in order", () =>
    withStore(dialect, async (store) => {
      const log = recordedLog();
      const counted: string[] = [];
      const clock = { now: () => at(0) };
      const callbackLog = createCallbackLog({
        append: createCallbackAppender(store, 160_000, clock, log),
        isDataError: store.database.isDataError,
        logger: log,
        write() {},
        clock,
        metrics: { callbackDropped: (reason) => void counted.push(reason) },
      });
      // A field that may not be null.
      const refused = { ...cameAt("refused", 0), remoteAddress: undefined as unknown as string };
      for (const row of [cameAt("one", 0), refused, cameAt("two", 0), cameAt("three", 0)]) callbackLog.addEntry(row);
      await callbackLog.flush();
      expect(await found(store, {})).toEqual(["one", "two", "three"]);
      callbackLog.addEntry(cameAt("four", 0));
      await callbackLog.flush();
      expect(await found(store, {})).toEqual(["one", "two", "three", "four"]);
      expect(counted).toEqual(["row_refused"]);
      expect(log.lines).toMatchObject([{ level: "error", fields: { request_id: "refused" } }]);
      await callbackLog.close();
    }));
});
