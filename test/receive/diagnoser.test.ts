import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { refused } from "../../src/domain/index.ts";
import { createDiagnoser } from "../../src/receive/diagnoser.ts";
import { builtInProtocol, createDiagnosis } from "../../src/sources/index.ts";
import { TokenBucket } from "../../src/system/index.ts";
import { recordedLog } from "../observability/recorded-log.ts";

describe("a token bucket", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
  afterEach(() => void vi.useRealTimers());

  it("a token bucket refills by its rate, up to its capacity", () => {
    const bucket = new TokenBucket(20, 400);
    expect([bucket.take(400), bucket.take(1)]).toEqual([true, false]);
    vi.advanceTimersByTime(500);
    expect([bucket.take(11), bucket.take(10), bucket.take(1)]).toEqual([false, true, false]);
    vi.advanceTimersByTime(3_600_000);
    expect([bucket.take(400), bucket.take(1)]).toEqual([true, false]);
  });

  it("a token bucket is in debt after more was taken than it holds, until that is paid back", () => {
    const bucket = new TokenBucket(20, 400);
    expect(bucket.take(440)).toBe(true);
    vi.advanceTimersByTime(2_000);
    expect(bucket.take(1)).toBe(false);
    vi.advanceTimersByTime(50);
    expect(bucket.take(1)).toBe(true);
  });
});

const SECRET = "0123456789abcdef0123456789abcdef";
const PLATFORM = createDiagnosis(
  builtInProtocol({
    secrets: [SECRET],
    named: [],
    tokens: { tokens: [], header: "x" },
  }),
);

describe("the diagnoser", () => {
  /** The budget follows this clock, which stands still until a test advances it. */
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["performance"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function setUp(onDiagnosed: (code: string) => void = () => {}) {
    const codes: string[] = [];
    const clock = { seconds: 0 };
    const log = recordedLog();
    const diagnoser = createDiagnoser({
      platform: PLATFORM,
      clock: { now: () => new Date(clock.seconds * 1_000) },
      log,
      diagnosed(source, code) {
        expect(source).toBe("platform");
        codes.push(code);
        onDiagnosed(code);
      },
    });
    const start = (body = "{}") => {
      const request = {
        exchange: { distinctHeaders: { "x-signature": ["0".repeat(64)] }, address: "192.0.2.1" },
        body: Buffer.from(body),
        requestId: "r1",
      };
      return diagnoser.start(request as never, refused("signature_mismatch"));
    };
    return { codes, log, clock, start };
  }

  it("the diagnoser diagnoses ten callbacks at once, and ten more in each second", async () => {
    const { codes, start } = setUp();
    for (let second = 1; second <= 4; second += 1) {
      await Promise.all(Array.from({ length: 12 }, () => start()));
      expect(codes).toEqual(Array.from({ length: second * 10 }, () => "unknown"));
      vi.advanceTimersByTime(1_000);
    }
  });

  it("the diagnoser diagnoses 128 KiB of bodies in a second", () => {
    const { start } = setUp();
    const started = [65_536, 20_000, 20_000, 1].map((bytes) => start("x".repeat(bytes)) !== undefined);
    expect(started).toEqual([true, true, false, true]);
    vi.advanceTimersByTime(1_000);
    expect(start("x".repeat(65_536))).toBeInstanceOf(Promise);
  });

  it("the diagnoser spends eight seconds of its budget on a body of 1 MiB, and diagnoses no longer one", () => {
    const { start } = setUp();
    expect(start("x".repeat(1_048_577))).toBeUndefined();
    expect(start("x".repeat(1_048_576))).toBeInstanceOf(Promise);
    vi.advanceTimersByTime(7_000);
    expect(start()).toBeUndefined();
    vi.advanceTimersByTime(2_000);
    expect(start()).toBeInstanceOf(Promise);
  });

  it("no more than twenty callbacks wait for their diagnosis", () => {
    const { start } = setUp();
    const started: unknown[] = [];
    for (let second = 0; second < 3; second += 1) {
      for (let count = 0; count < 10; count += 1) started.push(start());
      vi.advanceTimersByTime(1_000);
    }
    expect(started.filter((one) => one instanceof Promise)).toHaveLength(20);
  });

  it("the diagnoser runs one diagnosis in a turn of the event loop, and none in the turn of the response", async () => {
    const { codes, start } = setUp();
    const started = Array.from({ length: 5 }, () => start());
    const counts = [codes.length];
    for (let turn = 0; turn < 12 && codes.length < 5; turn += 1) {
      await nextTurn();
      counts.push(codes.length);
    }
    await Promise.all(started);
    const steps = counts.slice(1).map((count, index) => count - (counts[index] ?? 0));
    expect(counts[0]).toBe(0);
    expect(codes).toHaveLength(5);
    expect(Math.max(...steps)).toBe(1);
  });

  it("the diagnoser warns of each code once a minute, with the number of callbacks", async () => {
    const { log, clock, start } = setUp();
    for (const seconds of [0, 30, 59, 60]) {
      clock.seconds = seconds;
      await start();
      vi.advanceTimersByTime(1_000);
    }
    const common = { diagnosis: "unknown", request_id: "r1", remote_address: "192.0.2.1" };
    expect(log.lines.map(({ level, fields }) => ({ level, ...fields }))).toEqual([
      { level: "warn", ...common, count: 1 },
      { level: "warn", ...common, count: 3 },
    ]);
  });

  it("the diagnoser logs an error of its own, and goes on with the next callback", async () => {
    let errors = 1;
    const { log, start } = setUp(() => {
      errors -= 1;
      if (errors >= 0) throw new Error("an error");
    });
    expect(await start()).toBeUndefined();
    expect(log.lines).toMatchObject([
      { level: "error", message: "a refused callback could not be diagnosed", fields: { request_id: "r1" } },
    ]);
    expect(await start()).toMatchObject({ code: "unknown" });
  });
});
