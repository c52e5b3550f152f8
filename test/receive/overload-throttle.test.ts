import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createOverloadThrottle } from "../../src/receive/request-sequence.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** How many of these requests have got their response so far. */
function overload(requests: number, throttle = createOverloadThrottle(1_000, 20)) {
  const responses = { count: 0 };
  for (let request = 0; request < requests; request += 1) {
    const turn = throttle.wait();
    if (turn === undefined) responses.count += 1;
    else
      void turn.then(() => {
        responses.count += 1;
      });
  }
  return responses;
}

describe("requests past the concurrency limit", () => {
  it("a few excess requests get a response at once", () => {
    expect(overload(20).count).toBe(20);
  });

  it("many excess requests get responses at a bounded rate until none is left", async () => {
    const responses = overload(220);
    await vi.advanceTimersByTimeAsync(100);
    expect(responses.count).toBe(120);
    await vi.advanceTimersByTimeAsync(110);
    expect(responses.count).toBe(220);
  });

  it("excess requests get a response at once where the queue of responses is full", () => {
    expect(overload(20 + 250 + 1_000).count).toBe(20 + 1_000);
  });

  it("a new response does not overtake those that wait", async () => {
    const throttle = createOverloadThrottle(1_000, 20);
    const first = overload(40, throttle);
    await vi.advanceTimersByTimeAsync(4);
    const second = overload(1, throttle);
    expect([first.count, second.count]).toEqual([20, 0]);
    await vi.advanceTimersByTimeAsync(16);
    expect([first.count, second.count]).toEqual([40, 0]);
  });
});
