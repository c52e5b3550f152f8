import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CallbackLogEntry, Diagnosis } from "../../src/domain/index.ts";
import { createCallbackLog, createMetrics } from "../../src/observability/index.ts";
import { logRow } from "../support/log-row.ts";
import { recordedLog } from "./recorded-log.ts";

const START = new Date("2026-01-02T03:04:05.000Z");

/** A callback log over a store that can be told to fail or to wait. */
function setUp(bounds: { rejectedPerMinute?: number; waiting?: number; outputBytesPerMinute?: number } = {}) {
  const logger = recordedLog();
  const metrics = createMetrics({
    knownTypes: [],
    failureCounts: async () => ({ accepted: 0, waiting: 0, exhausted: 0, rejected: 0 }),
    patternOf: () => undefined,
    sources: ["platform"],
    acceptedAge: async () => 0,
    deliveryCounts: async () => ({ waiting: 0, dead: 0 }),
    waitingCallbacks: () => 0,
    mostWaitingCallbacks: 1_000,
    ping: async () => {},
  });
  const store = {
    groups: [] as string[][],
    rows: [] as CallbackLogEntry[],
    diagnoses: [] as (string | undefined)[],
    calls: 0,
    atOnce: 0,
    mostAtOnce: 0,
    broken: false,
    gate: Promise.resolve(),
  };
  const callbackLog = createCallbackLog({
    async append(rows: readonly CallbackLogEntry[]) {
      store.calls += 1;
      store.atOnce += 1;
      store.mostAtOnce = Math.max(store.mostAtOnce, store.atOnce);
      await store.gate;
      store.atOnce -= 1;
      if (store.broken) throw new Error("the database is away");
      store.groups.push(rows.map((row) => row.requestId));
      store.rows.push(...rows);
      store.diagnoses.push(...rows.map((row) => row.diagnosis?.code));
    },
    isDataError: () => false,
    logger,
    write: (level, fields, message) => logger[level](JSON.parse(`{${fields()}}`), message),
    clock: { now: () => new Date() },
    metrics,
    bounds,
  });
  const add = (count: number, from = 0) => {
    for (let index = from; index < from + count; index += 1) callbackLog.addEntry(logRow({ requestId: `r${index}` }));
  };
  const refuse = (over: Partial<CallbackLogEntry> = {}, diagnosis?: Promise<Diagnosis | undefined>) => {
    const row = logRow({
      eventId: null,
      source: null,
      outcome: "signature_mismatch",
      responseStatus: 401,
      ...over,
    });
    const request = { outcome: row.outcome, remoteAddress: row.remoteAddress, body: Buffer.alloc(0) };
    if (callbackLog.admitRefused(request)) callbackLog.addRefused({ ...request, entry: () => row, diagnosis });
  };
  const warnings = () => logger.lines.filter(({ level }) => level === "warn");
  return {
    callbackLog,
    store,
    add,
    refuse,
    logger,
    metrics,
    warnings,
    stored: () => store.groups.flat(),
    diagnoses: () => store.diagnoses,
  };
}

function ids(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, index) => `r${from + index}`);
}

/** What is done after the answer takes turns of the event loop that no test sets the clock of. */
async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}

beforeEach(() => {
  vi.useFakeTimers({ now: START });
});

afterEach(() => {
  vi.useRealTimers();
});

describe("the rows of the callback log", () => {
  it("log entries are stored together, at most 100 ms after the first", async () => {
    const { add, store } = setUp();
    add(3);
    await vi.advanceTimersByTimeAsync(99);
    expect(store.groups).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(store.groups).toEqual([ids(3)]);
  });

  it("log entries are stored at once when 200 wait, in groups of 200, one group at a time", async () => {
    const { add, store } = setUp();
    add(450);
    await vi.advanceTimersByTimeAsync(0);
    expect(store.groups).toEqual([ids(200)]);
    await vi.advanceTimersByTimeAsync(100);
    expect(store.groups).toEqual([ids(200), ids(200, 200), ids(50, 400)]);
    expect(store.mostAtOnce).toBe(1);
  });

  it("a flush resolves when its log entries are stored, also those added during another flush", async () => {
    const { add, store, callbackLog, stored } = setUp();
    const gate = Promise.withResolvers<void>();
    store.gate = gate.promise;
    add(1);
    const first = callbackLog.flush();
    add(1, 1);
    const second = callbackLog.flush();
    gate.resolve();
    await Promise.all([first, second]);
    expect(stored()).toEqual(ids(2));
    expect(store.mostAtOnce).toBe(1);
  });

  it("log entries keep their place until it is known why they were refused, and are stored with it", async () => {
    const { add, refuse, callbackLog, stored, diagnoses } = setUp();
    const [slow, none] = [Promise.withResolvers<Diagnosis>(), Promise.resolve(undefined)];
    add(1);
    refuse({ requestId: "r1" }, slow.promise);
    refuse({ requestId: "r2" }, none);
    await turns();
    add(1, 3);
    const flushed = callbackLog.flush();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(stored()).toEqual([]);
    slow.resolve({ code: "prefix", message: "It has one.", remedy: "Take it away.", confirmed: true });
    await flushed;
    expect(stored()).toEqual(ids(4));
    expect(diagnoses()).toEqual([undefined, "prefix", undefined, undefined]);
  });

  it("log entries cost no statement when there are none", async () => {
    const { callbackLog, store } = setUp();
    await callbackLog.flush();
    await callbackLog.close();
    expect(store.calls).toBe(0);
  });

  it("log entries are kept in order and retried each second while the database is unavailable", async () => {
    const { add, store, stored } = setUp();
    store.broken = true;
    add(250);
    await vi.advanceTimersByTimeAsync(3_500);
    expect(store.calls).toBeLessThanOrEqual(5);
    add(1, 250);
    store.broken = false;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(stored()).toEqual(ids(251));
  });

  it("log entries that cannot be stored never fail a flush, and cause one warning a minute", async () => {
    const { add, store, callbackLog, warnings } = setUp();
    store.broken = true;
    add(1);
    await expect(callbackLog.flush()).resolves.toBeUndefined();
    await vi.advanceTimersByTimeAsync(59_000);
    expect(warnings()).toHaveLength(1);
    expect(warnings()[0]?.fields).toMatchObject({ rows: 1, err: new Error("the database is away") });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(warnings()).toHaveLength(2);
  });

  it("log entries past the bound are dropped, counted, and reported once a minute", async () => {
    const { add, store, metrics, warnings, callbackLog, stored } = setUp({ waiting: 10 });
    store.broken = true;
    add(1);
    await callbackLog.flush();
    add(14, 1);
    await vi.advanceTimersByTimeAsync(60_000);
    add(3, 15);
    expect((await metrics.render()).text).toContain('oncehook_callback_log_dropped_total{reason="buffer_full"} 8');
    const told = warnings().filter(({ fields }) => "left_out" in fields);
    expect(told.map(({ fields }) => fields.left_out)).toEqual([5]);
    store.broken = false;
    await callbackLog.close();
    expect(stored()).toEqual(expect.arrayContaining(ids(10)));
    expect(warnings().at(-1)?.fields).toMatchObject({ left_out: 3, reason: "buffer_full" });
    // Their row waits too, and stands for all of them.
    expect(store.rows.filter(({ leftOut }) => leftOut !== undefined)).toEqual([]);
  });

  it("the buffer of log entries is bounded in bytes, so that long bodies cannot fill the memory", async () => {
    const { store, callbackLog, metrics } = setUp();
    store.broken = true;
    const requestBody = "x".repeat(1024 * 1024);
    for (let index = 0; index < 70; index += 1) callbackLog.addEntry(logRow({ requestBody }));
    expect((await metrics.render()).text).toMatch(/oncehook_callback_log_dropped_total{reason="buffer_full"} 7\n/);
    store.broken = false;
    await callbackLog.flush();
    callbackLog.addEntry(logRow({ requestBody }));
    expect((await metrics.render()).text).toMatch(/oncehook_callback_log_dropped_total{reason="buffer_full"} 7\n/);
    await callbackLog.close();
  });

  it("close stores the log entries, and nothing is stored after it", async () => {
    const { add, refuse, callbackLog, store, stored } = setUp();
    add(5);
    refuse({ requestId: "r5" });
    callbackLog.drop("unknown_address", { outcome: "not_found", remoteAddress: "127.0.0.1" });
    await callbackLog.close();
    expect(stored().slice(0, 6)).toEqual(ids(6));
    const { calls } = store;
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(store.calls).toBe(calls);
    expect(stored()).toHaveLength(7);
  });

  it("close reports log entries that it cannot store as lost", async () => {
    const { add, callbackLog, store, logger } = setUp();
    store.broken = true;
    add(5);
    await callbackLog.close();
    expect(logger.lines.at(-1)).toMatchObject({ level: "error", fields: { rows: 5 } });
    const { calls } = store;
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(store.calls).toBe(calls);
  });
});

describe("refused callbacks", () => {
  const stranger = { outcome: "signature_mismatch", remoteAddress: "192.0.2.1" } as const;

  it("refused callbacks are logged up to 600 a minute, and further ones in the next minute", () => {
    const { callbackLog } = setUp();
    const admitted = (now: Date) => {
      vi.setSystemTime(now);
      return Array.from({ length: 700 }, () => callbackLog.admitRefused(stranger)).filter(Boolean).length;
    };
    expect(admitted(START)).toBe(600);
    expect(admitted(new Date(START.getTime() + 59_999))).toBe(0);
    expect(admitted(new Date(START.getTime() + 60_000))).toBe(600);
  });

  it("refused callbacks are logged again after the clock is set back", () => {
    const { callbackLog } = setUp({ rejectedPerMinute: 1 });
    expect(callbackLog.admitRefused(stranger)).toBe(true);
    vi.setSystemTime(START.getTime() - 3_600_000);
    expect(callbackLog.admitRefused(stranger)).toBe(true);
  });

  it("refused callbacks past the bound have a line and a row for each minute and outcome: how many, from where, since when", async () => {
    const { callbackLog, store, metrics, warnings } = setUp({ rejectedPerMinute: 2 });
    const refused = (outcome: "signature_mismatch" | "too_many_requests", address: number) =>
      callbackLog.admitRefused({ outcome, remoteAddress: `192.0.2.${address}`, url: () => `/${address}` });
    for (let index = 0; index < 7; index += 1) refused("signature_mismatch", index % 4);
    await vi.advanceTimersByTimeAsync(30_000);
    refused("signature_mismatch", 9);
    refused("too_many_requests", 9);
    expect(warnings()).toEqual([]);
    await vi.advanceTimersByTimeAsync(30_100);
    const [first, last] = [START.toISOString(), new Date(START.getTime() + 30_000).toISOString()];
    expect(warnings().map(({ fields }) => fields)).toEqual([
      {
        left_out: 6,
        reason: "rejected_bound",
        outcome: "signature_mismatch",
        addresses: 5,
        first,
        last,
        url: "/2",
      },
      {
        left_out: 1,
        reason: "rejected_bound",
        outcome: "too_many_requests",
        addresses: 1,
        first: last,
        last,
        url: "/9",
      },
    ]);
    expect(store.rows).toMatchObject([
      {
        outcome: "signature_mismatch",
        responseStatus: 401,
        receivedAt: last,
        eventId: null,
        leftOut: { reason: "rejected_bound", count: 6, addresses: 5, first, last },
        error: expect.stringContaining("It was 6 from 5 remote addresses"),
      },
      { outcome: "too_many_requests", responseStatus: 429, leftOut: { count: 1 } },
    ]);
    expect((await metrics.render()).text).toContain('oncehook_callback_log_dropped_total{reason="rejected_bound"} 7');
    await vi.advanceTimersByTimeAsync(600_000);
    expect(warnings()).toHaveLength(2);
  });

  it("refused callbacks count their addresses up to a thousand, so that a flood of them takes no memory", async () => {
    const { callbackLog, store } = setUp({ rejectedPerMinute: 0 });
    for (let index = 0; index < 3_000; index += 1)
      callbackLog.admitRefused({ ...stranger, remoteAddress: `a${index}` });
    await vi.advanceTimersByTimeAsync(60_200);
    expect(store.rows[0]?.leftOut).toMatchObject({ count: 3_000, addresses: 1_000 });
    expect(store.rows[0]?.error).toContain("from 1000 or more remote addresses");
  });

  it("refused callbacks keep the row that stands for them until there is room for it", async () => {
    const { callbackLog, store, add } = setUp({ rejectedPerMinute: 0, waiting: 1 });
    store.broken = true;
    add(1);
    expect(callbackLog.admitRefused(stranger)).toBe(false);
    await vi.advanceTimersByTimeAsync(61_000);
    expect(callbackLog.admitRefused({ ...stranger, remoteAddress: "192.0.2.2" })).toBe(false);
    const [first, last] = [START.toISOString(), new Date().toISOString()];
    store.broken = false;
    await vi.advanceTimersByTimeAsync(61_000);
    const leftOut = { reason: "rejected_bound", count: 2, addresses: 2, first, last };
    expect(store.rows).toMatchObject([{}, { leftOut, receivedAt: last }]);
    expect(store.rows).toHaveLength(2);
  });

  it("refused callbacks take so many bytes of standard output a minute, and have short lines after that", async () => {
    const { refuse, logger, store, warnings } = setUp({ outputBytesPerMinute: 10_000 });
    const requestBody = "x".repeat(3_000);
    for (let index = 0; index < 5; index += 1) refuse({ requestBody, url: `/${"y".repeat(500)}` });
    await turns();
    await vi.advanceTimersByTimeAsync(1_000);
    const lines = logger.lines.filter(({ message }) => message === "callback").map(({ fields }) => fields);
    expect(lines.map(({ body_text, shortened }) => [typeof body_text, shortened])).toEqual([
      ["string", undefined],
      ["string", undefined],
      ["undefined", true],
      ["undefined", true],
      ["undefined", true],
    ]);
    expect(JSON.stringify(lines[2]).length).toBeLessThan(700);
    expect(store.rows.every((row) => row.requestBody === requestBody)).toBe(true);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(warnings().at(-1)?.fields).toMatchObject({ left_out: 3, reason: "output_bound" });
    refuse({ requestBody });
    await turns();
    expect(logger.lines.at(-1)?.fields).toMatchObject({ body_text: requestBody });
  });

  it("refused callbacks hold no more than 16 MiB of bodies until they are logged, and count the others", async () => {
    const { callbackLog, store, warnings } = setUp();
    const body = Buffer.alloc(1024 * 1024);
    for (let index = 0; index < 20; index += 1)
      callbackLog.addRefused({
        ...stranger,
        body,
        entry: () => logRow({ eventId: null, requestId: `r${index}` }),
      });
    await turns();
    await vi.advanceTimersByTimeAsync(60_200);
    expect(store.rows.filter(({ leftOut }) => leftOut === undefined)).toHaveLength(16);
    expect(warnings().at(-1)?.fields).toMatchObject({ left_out: 4, reason: "body_bound" });
  });

  it("a refused callback's log entry has the hash of a body too long for one turn of the event loop", async () => {
    const { callbackLog } = setUp();
    const hashes: (string | undefined)[] = [];
    const add = (bytes: number) =>
      callbackLog.addRefused({
        ...stranger,
        body: Buffer.alloc(bytes, 7),
        entry(sha256) {
          hashes.push(sha256);
          return logRow();
        },
      });
    add(3 * 1024 * 1024 + 1);
    add(1_000);
    await callbackLog.flush();
    const expected = createHash("sha256")
      .update(Buffer.alloc(3 * 1024 * 1024 + 1, 7))
      .digest("hex");
    expect(hashes).toEqual([expected, undefined]);
  });
});

describe("the line of a callback", () => {
  it("the line of a callback has the fields of SPEC 1.8", () => {
    const { callbackLog, logger } = setUp();
    callbackLog.writeLine(logRow({ eventId: "e1", processingMs: 1.23456, responseBody: '{"status":"success"}' }));
    expect(logger.lines).toEqual([
      {
        level: "info",
        message: "callback",
        fields: {
          request_id: "r1",
          source: "platform",
          event_id: "e1",
          event_type: "payment_notify",
          method: "POST",
          url: "/api/platform/callback",
          remote_address: "127.0.0.1",
          headers: {},
          body: {},
          outcome: "success",
          status: 200,
          response: { status: "success" },
          duration_ms: 1.235,
          error: null,
        },
      },
    ]);
  });

  it.each([
    ["JSON of several lines", '{\n  "a": 1\n}', { body: { a: 1 } }],
    ["a text", "a b", { body_text: "a b" }],
    ["a list", "[1]", { body_text: "[1]" }],
    ["what begins like JSON", '{"a":1}\n{"level":50}', { body_text: '{"a":1}\n{"level":50}' }],
    ["what would end the line's object", '{"a":1},"level":50,"b":{}', { body_text: '{"a":1},"level":50,"b":{}' }],
  ])("a callback is one line whatever its body is: %s", (_, requestBody, logged) => {
    const { callbackLog, logger } = setUp();
    callbackLog.writeLine(logRow({ requestBody }));
    const [{ body, body_text }] = logger.lines.map(({ fields }) => fields) as [Record<string, unknown>];
    expect({ body, body_text }).toEqual({ body: undefined, body_text: undefined, ...logged });
  });

  it.each([
    [200, "info"],
    [401, "warn"],
    [503, "error"],
  ])("the line of a callback with status %i has the level %s", (responseStatus, level) => {
    const { callbackLog, logger } = setUp();
    callbackLog.writeLine(logRow({ responseStatus }));
    expect(logger.lines[0]?.level).toBe(level);
  });
});
