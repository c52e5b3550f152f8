import { describe, expect, it } from "vitest";
import { refused } from "../../src/domain/index.ts";
import { createAllowance } from "../../src/http/allowance.ts";
import { createDiagnosing } from "../../src/http/diagnosing.ts";

describe("an allowance", () => {
  it("grows again by so much a second, and no higher than what may be saved", () => {
    let now = 0;
    const allowance = createAllowance(20, 400, () => now);
    allowance.take(400);
    expect(allowance.has(1)).toBe(false);
    now = 500;
    expect([allowance.has(10), allowance.has(11)]).toEqual([true, false]);
    now = 3_600_000;
    expect([allowance.has(400), allowance.has(401)]).toEqual([true, false]);
  });

  it("is in debt where more was taken than it had, until that is paid", () => {
    let now = 0;
    const allowance = createAllowance(20, 400, () => now);
    allowance.take(440);
    now = 1_900;
    expect(allowance.has(0)).toBe(false);
    now = 2_000;
    expect(allowance.has(0)).toBe(true);
  });
});

describe("diagnosing", () => {
  const request = {
    message: { headersDistinct: { "x-signature": ["0".repeat(64)] } },
    method: "POST",
    url: "/api/platform/callback",
    body: Buffer.from("{}"),
    requestId: "r1",
    address: "192.0.2.1",
  } as never;

  /** Each look at the time that was used finds so much more of it. */
  function using(step: number) {
    let now = 0;
    const told: string[] = [];
    const diagnosing = createDiagnosing({
      expected: {
        secrets: { accepted: ["0123456789abcdef0123456789abcdef"], named: [] },
        toleranceSeconds: null,
        tokens: { tokens: [], header: "x" },
      },
      origin: "https://callbacks.example.com",
      clock: { now: () => new Date(0) },
      log: { debug() {}, info() {}, warn() {}, error() {} } as never,
      diagnosed: (code) => told.push(code),
      cpuTime: () => (now += step),
    });
    return { told, begin: () => diagnosing.begin(request, refused("signature_mismatch")) };
  }

  it("looks into ten at once, while they take little time", async () => {
    const { told, begin } = using(0.001);
    await Promise.all(Array.from({ length: 12 }, begin));
    expect(told).toEqual(Array.from({ length: 10 }, () => "unknown"));
  });

  it("looks into none of those that wait, nor of those to come, once their time is used up", async () => {
    const { told, begin } = using(10_000);
    const begun = Array.from({ length: 5 }, begin);
    expect(begun.every((one) => one instanceof Promise)).toBe(true);
    const [first, ...others] = await Promise.all(begun);
    expect(first).toMatchObject({ code: "unknown" });
    expect(others).toEqual([undefined, undefined, undefined, undefined]);
    expect(begin()).toBeUndefined();
    expect(told).toEqual(["unknown"]);
  });
});
