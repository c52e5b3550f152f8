import { expect, it } from "vitest";
import { backoffDelays, retryUntil } from "../../src/store/retry-until.ts";

it("the pauses between attempts on a busy database grow from milliseconds to a bound, each with a jitter", () => {
  const each = backoffDelays();
  const taken = Array.from({ length: 40 }, () => each.next().value);
  expect(taken[0]).toBeLessThan(8);
  expect(Math.max(...taken)).toBeLessThan(300);
  expect(Math.min(...taken.slice(6))).toBeGreaterThanOrEqual(100);
  expect(new Set(taken.slice(6)).size).toBeGreaterThan(1);
});

it("work that a passing error stops is tried again until its deadline, and then fails with that error as the cause", async () => {
  let attempts = 0;
  const busy = () => {
    attempts += 1;
    throw new Error(`busy ${attempts}`);
  };
  const deadline = performance.now() + 40;
  const failed = retryUntil(deadline, busy, () => "unavailable");
  await expect(failed).rejects.toMatchObject({
    name: "StoreError",
    reason: "unavailable",
    handlerStarted: false,
  });
  await expect(failed).rejects.toHaveProperty("cause.message", `busy ${attempts}`);
  expect(attempts).toBeGreaterThan(1);
  expect(performance.now()).toBeGreaterThanOrEqual(deadline);
});

it("an error that does not pass by itself is thrown as it is, at once", async () => {
  const error = new Error("a wrong statement");
  let attempts = 0;
  const wrong = () => {
    attempts += 1;
    throw error;
  };
  await expect(retryUntil(performance.now() + 10_000, wrong, () => undefined)).rejects.toBe(error);
  expect(attempts).toBe(1);
});
