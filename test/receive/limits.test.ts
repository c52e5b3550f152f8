import { afterEach, describe, expect, it, vi } from "vitest";
import {
  applyRateLimits,
  type CountUpTo,
  cacheExceeded,
  createMemoryCounter,
  withFallback,
} from "../../src/receive/rate-limit.ts";
import { recordedLog } from "../observability/recorded-log.ts";
import { DIALECTS, withDatabase } from "../support/databases.ts";
import { payment, startReceiver, withReceiver } from "../support/receiver.ts";

const DEFAULTS = { RATE_LIMIT_DEFAULT: "100/hour", RATE_LIMIT_CALLBACK: "10/minute" };
const T0 = new Date("2026-01-01T00:00:00Z");
const at = (seconds: number) => new Date(T0.getTime() + seconds * 1000);

describe("rate limits", () => {
  it("rate limits let ten callbacks a minute pass and answer the eleventh 429 with Retry-After and the RateLimit fields", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        for (let index = 0; index < 10; index += 1) expect((await receiver.send(payment())).status).toBe(200);
        const { status, body, headers } = await receiver.send(payment());
        expect([status, body]).toEqual([429, { error: "too many requests" }]);
        expect(headers.get("ratelimit-policy")).toBe('"default";q=100;w=3600, "callback";q=10;w=60');
        expect(headers.get("ratelimit")).toMatch(/^"default";r=89;t=\d+, "callback";r=0;t=\d+$/);
        expect(Number(headers.get("retry-after"))).toBeGreaterThan(50);
        expect(Number(headers.get("retry-after"))).toBeLessThanOrEqual(60);
        expect(await receiver.count("oncehook_records")).toBe(10);
      },
      { env: DEFAULTS },
    ));

  it("rate limits let a hundred requests an hour pass on other routes, and none of them counts against callbacks alone", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        for (let index = 0; index < 100; index += 1) {
          expect((await receiver.send({}, { path: "/nowhere" })).status).toBe(404);
        }
        expect((await receiver.send({}, { path: "/nowhere" })).status).toBe(429);
        expect((await receiver.send(payment())).status).toBe(429);
      },
      { env: DEFAULTS },
    ));

  it.each(DIALECTS)("rate limits share one count between processes in the database: %s", (dialect) =>
    withDatabase(dialect, async (target) => {
      const env = { RATE_LIMIT_CALLBACK: "5/minute", RATE_LIMIT_STORE: "database" };
      const receivers = [await startReceiver(target, { env }), await startReceiver(target, { env })];
      const statuses = [];
      for (let index = 0; index < 8; index += 1) statuses.push((await receivers[index % 2]!.send(payment())).status);
      expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
      for (const receiver of receivers) await receiver.stop();
    }),
  );

  it("a new window starts after the old one", async () => {
    const count = createMemoryCounter();
    const policies = [{ name: "callback", points: 2, windowSeconds: 60 }];
    const refused = async (now: Date) => (await applyRateLimits(policies, "a", count, now)).refusal !== undefined;
    expect([await refused(at(0)), await refused(at(30)), await refused(at(59))]).toEqual([false, false, true]);
    expect(await refused(at(60))).toBe(false);
  });

  it("rate limits last no longer than their window when the clock is set back", async () => {
    const policies = [{ name: "callback", points: 1, windowSeconds: 60 }];
    const retryAfter = async (count: CountUpTo, now: Date) =>
      (await applyRateLimits(policies, "a", count, now)).refusal?.retryAfterSeconds;
    for (const count of [createMemoryCounter(), cacheExceeded(createMemoryCounter())]) {
      expect([await retryAfter(count, at(21_600)), await retryAfter(count, at(21_601))]).toEqual([undefined, 59]);
      expect(await retryAfter(count, at(0))).toBeUndefined();
      expect([await retryAfter(count, at(1)), await retryAfter(count, at(61))]).toEqual([59, undefined]);
    }
  });

  it("Retry-After is never longer than the window, where another process's clock is ahead", async () => {
    const ahead = () => ({ points: 9, resetAt: at(67) });
    const policies = [{ name: "callback", points: 1, windowSeconds: 60 }];
    expect((await applyRateLimits(policies, "a", ahead, at(0))).refusal?.retryAfterSeconds).toBe(60);
  });

  it("rate limits name the longer Retry-After where a request is over two of them", async () => {
    const policies = [
      { name: "default", points: 1, windowSeconds: 3_600 },
      { name: "callback", points: 1, windowSeconds: 60 },
    ];
    const count = createMemoryCounter();
    await applyRateLimits(policies, "a", count, at(0));
    expect((await applyRateLimits(policies, "a", count, at(1))).refusal?.retryAfterSeconds).toBe(3_599);
  });

  it("rate limits hold a bounded number of counters, however many addresses come", () => {
    const count = createMemoryCounter(1_000);
    for (let index = 0; index < 5_000; index += 1) void count(`address-${index}`, 60_000, T0);
    expect(count("address-4999", 60_000, T0)).toMatchObject({ points: 2 });
    expect(count("address-0", 60_000, T0)).toMatchObject({ points: 1 });
  });

  it("rate limits count in the process while the database does not answer, and warn once", async () => {
    const warnings: string[] = [];
    const log = {
      debug() {},
      info() {},
      error() {},
      warn: (_fields: object, message: string) => void warnings.push(message),
    };
    const count = withFallback(() => Promise.reject(new Error("down")), { now: () => T0 }, log);
    expect([(await count("a", 1_000, T0)).points, (await count("a", 1_000, T0)).points]).toEqual([1, 2]);
    expect(warnings).toHaveLength(1);
  });
});

describe("a slow shared count", () => {
  it("a slow shared count delays one request for a moment, and the next ones not at all", async () => {
    const log = { debug() {}, info() {}, error() {}, warn() {} };
    const never = () => new Promise<never>(() => {});
    const count = withFallback(never, { now: () => T0 }, log);
    const begun = performance.now();
    for (let hit = 1; hit <= 20; hit += 1) expect((await count("a", 1_000, T0)).points).toBe(hit);
    expect(performance.now() - begun).toBeLessThan(2_000);
  });
});

describe("a shared count that has failed", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("a failed shared count is asked again after five seconds, and not before", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    let asked = 0;
    const failing = () => {
      asked += 1;
      return Promise.reject(new Error("down"));
    };
    const count = withFallback(failing, { now: () => T0 }, recordedLog());
    const askedAfter = async (ms: number) => {
      vi.advanceTimersByTime(ms);
      await count("a", 60_000, T0);
      return asked;
    };
    expect([await askedAfter(0), await askedAfter(4_999), await askedAfter(1)]).toEqual([1, 1, 2]);
  });

  it("a failed shared count is logged once a minute", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const log = recordedLog();
    let now = T0;
    const count = withFallback(() => Promise.reject(new Error("down")), { now: () => now }, log);
    for (const seconds of [0, 10, 59, 61]) {
      now = at(seconds);
      vi.advanceTimersByTime(10_000);
      await count("a", 60_000, now);
    }
    expect(log.lines).toHaveLength(2);
  });
});

describe("who is over a limit", () => {
  it("an address over its limit is refused without another count until the window ends", async () => {
    const policies = [{ name: "callback", points: 2, windowSeconds: 60 }];
    const shared = createMemoryCounter();
    const hits: string[] = [];
    const count = cacheExceeded((key, windowMs, now) => {
      hits.push(key);
      return shared(key, windowMs, now);
    });
    const isRefused = async (address: string, seconds: number) =>
      (await applyRateLimits(policies, address, count, at(seconds))).refusal !== undefined;
    for (let hit = 0; hit < 10; hit += 1) await isRefused("a", 1);
    expect(hits).toHaveLength(3);
    expect([await isRefused("a", 30), await isRefused("b", 30)]).toEqual([true, false]);
    expect(await isRefused("a", 62)).toBe(false);
  });
});

describe("counts that are kept in this process", () => {
  const MOST = 100_000;

  it("the number of cached addresses over their limit is bounded, and the oldest makes room", async () => {
    let hits = 0;
    const over = cacheExceeded(() => {
      hits += 1;
      return { points: 2, resetAt: at(60) };
    });
    for (let address = 0; address <= MOST; address += 1) await over(`a${address}`, 60_000, T0, 1);
    expect(hits).toBe(MOST + 1);
    await over(`a${MOST}`, 60_000, T0, 1);
    expect(hits).toBe(MOST + 1);
    await over("a0", 60_000, T0, 1);
    expect(hits).toBe(MOST + 2);
  });

  it("an hourly count is kept when an expired one of another key starts again", () => {
    const count = createMemoryCounter(2);
    void count("hour", 3_600_000, at(0));
    void count("minute", 60_000, at(1));
    void count("minute", 60_000, at(62));
    expect(count("hour", 3_600_000, at(63))).toMatchObject({ points: 2 });
  });
});

describe("requests from addresses outside IP_ALLOW_LIST", () => {
  it("requests from outside the list get 403 before anything else is looked at", () =>
    withReceiver(
      "sqlite",
      async (receiver) => {
        const response = await receiver.send(payment());
        expect([response.status, response.body]).toEqual([403, { error: "address not allowed" }]);
        expect(response.headers.get("ratelimit")).toBeNull();
        expect((await fetch(`${receiver.publicOrigin}/%zz`, { method: "POST" })).status).toBe(403);
      },
      { env: { IP_ALLOW_LIST: "192.0.2.0/24", RATE_LIMIT_CALLBACK: "10/minute" } },
    ));
});
