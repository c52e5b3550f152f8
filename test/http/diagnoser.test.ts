import { createHmac } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { refused } from "../../src/domain/index.ts";
import { createTokenBucket } from "../../src/http/admission.ts";
import { createDiagnoser } from "../../src/http/diagnoser.ts";
import { recordedLog } from "../observability/recorded-log.ts";

describe("an allowance", () => {
  it("grows again by so much a second, and no higher than what may be saved", () => {
    let now = 0;
    const allowance = createTokenBucket(20, 400, () => now);
    allowance.take(400);
    expect(allowance.has(1)).toBe(false);
    now = 500;
    expect([allowance.has(10), allowance.has(11)]).toEqual([true, false]);
    now = 3_600_000;
    expect([allowance.has(400), allowance.has(401)]).toEqual([true, false]);
  });

  it("is in debt where more was taken than it had, until that is paid", () => {
    let now = 0;
    const allowance = createTokenBucket(20, 400, () => now);
    allowance.take(440);
    now = 1_900;
    expect(allowance.has(0)).toBe(false);
    now = 2_000;
    expect(allowance.has(0)).toBe(true);
  });
});

describe("diagnosing", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  const SECRET = "0123456789abcdef0123456789abcdef";
  const request = (body: string, signature = "0".repeat(64)) =>
    ({
      message: { headersDistinct: { "x-signature": [signature] } },
      method: "POST",
      url: "/api/platform/callback",
      body: Buffer.from(body),
      requestId: "r1",
      address: "192.0.2.1",
    }) as never;

  /** Each look at the time that was used finds so much more of it. */
  function using(step: number, tell: (code: string) => void = () => {}) {
    let now = 0;
    const told: string[] = [];
    const clock = { seconds: 0 };
    const log = recordedLog();
    const diagnosing = createDiagnoser({
      expected: {
        secrets: { accepted: [SECRET], named: [] },
        toleranceSeconds: null,
        tokens: { tokens: [], header: "x" },
      },
      origin: "https://callbacks.example.com",
      clock: { now: () => new Date(clock.seconds * 1_000) },
      log,
      diagnosed(code) {
        told.push(code);
        tell(code);
      },
      cpuTime: () => (now += step),
    });
    const begin = (body = "{}", signature?: string) =>
      diagnosing.start(request(body, signature), refused("signature_mismatch"));
    return { told, log, clock, begin };
  }

  /** What is allowed in a second is counted by this clock, which stands still until a test moves it. */
  function stopped() {
    vi.useFakeTimers({ toFake: ["performance"] });
    return using(0.001);
  }

  it("looks into ten at once, while they take little time", async () => {
    const { told, begin } = using(0.001);
    await Promise.all(Array.from({ length: 12 }, () => begin()));
    expect(told).toEqual(Array.from({ length: 10 }, () => "unknown"));
  });

  it("looks into none of those that wait, nor of those to come, once their time is used up", async () => {
    const { told, begin } = using(10_000);
    const begun = Array.from({ length: 5 }, () => begin());
    expect(begun.every((one) => one instanceof Promise)).toBe(true);
    const [first, ...others] = await Promise.all(begun);
    expect(first).toMatchObject({ code: "unknown" });
    expect(others).toEqual([undefined, undefined, undefined, undefined]);
    expect(begin()).toBeUndefined();
    expect(told).toEqual(["unknown"]);
  });

  it("looks into ten more in each second, as long as they come", async () => {
    const { told, begin } = stopped();
    for (let second = 0; second < 4; second += 1) {
      await Promise.all(Array.from({ length: 11 }, () => begin()));
      vi.advanceTimersByTime(1_000);
    }
    expect(told).toHaveLength(40);
  });

  it("lets no more than twenty wait for those before them", () => {
    const { begin } = stopped();
    const begun: unknown[] = [];
    for (let second = 0; second < 3; second += 1) {
      for (let count = 0; count < 10; count += 1) begun.push(begin());
      vi.advanceTimersByTime(1_000);
    }
    expect(begun.filter((one) => one instanceof Promise)).toHaveLength(20);
  });

  it("looks into 128 KiB of bodies in a second, and into none that is longer than 64 KiB", () => {
    const { begin } = stopped();
    expect(begin("x".repeat(65_537))).toBeUndefined();
    const bodies = [65_536, 65_535, 2, 1].map((bytes) => begin("x".repeat(bytes)));
    expect(bodies.map((one) => one instanceof Promise)).toEqual([true, true, false, true]);
    vi.advanceTimersByTime(1_000);
    expect(begin("x".repeat(65_536))).toBeInstanceOf(Promise);
  });

  it("tells the log of each finding once a minute, with how many there were", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const { log, clock, begin } = using(0.001);
    for (const seconds of [0, 30, 59, 60]) {
      clock.seconds = seconds;
      await begin();
      vi.advanceTimersByTime(1_000);
    }
    const common = { diagnosis: "unknown", request_id: "r1", remote_address: "192.0.2.1" };
    expect(log.lines.map(({ level, fields }) => ({ level, ...fields }))).toEqual([
      { level: "warn", ...common, count: 1 },
      { level: "warn", ...common, count: 3 },
    ]);
  });

  it("knows the whole address that the platform called", async () => {
    const { begin } = using(0.001);
    const called = "https://callbacks.example.com/api/platform/callback";
    const signature = createHmac("sha256", SECRET).update(called).update("{}").digest("hex");
    expect(await begin("{}", signature)).toMatchObject({ code: "other_content", confirmed: true });
  });

  it("leaves a fault of its own in the log, and goes on with the next one", async () => {
    let faults = 1;
    const { log, begin } = using(0.001, () => {
      faults -= 1;
      if (faults >= 0) throw new Error("a fault");
    });
    expect(await begin()).toBeUndefined();
    expect(log.lines).toMatchObject([
      { level: "error", message: "a refused callback could not be diagnosed", fields: { request_id: "r1" } },
    ]);
    expect(await begin()).toMatchObject({ code: "unknown" });
  });

  it("pauses after each millisecond for whatever else there is to do", async () => {
    const { begin } = using(0.001);
    let isOver = false;
    let turns = 0;
    const items = Array.from({ length: 400 }, (_, index) => [`k${400 - index}/é<"`, index + 0.5]);
    const diagnosis = begin(JSON.stringify(Object.fromEntries(items)))?.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await nextTurn();
      turns += 1;
    }
    expect(await diagnosis).toMatchObject({ code: "unknown" });
    expect(turns).toBeGreaterThan(10);
  });
});
