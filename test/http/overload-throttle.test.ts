import type { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createOverloadThrottle, createUnverifiedTurns } from "../../src/http/admission.ts";

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

describe("responses to requests that are not authentic", () => {
  it("wait for a later turn of the event loop past so many in one, in the order of their arrival", async () => {
    const idle = new Set<Socket>();
    const limit = {
      requestStarted: (socket: Socket) => void idle.delete(socket),
      requestEnded: (socket: Socket) => void idle.add(socket),
    };
    const turns = createUnverifiedTurns(limit, { quiet: undefined }, 2);
    const sockets = Array.from({ length: 5 }, () => ({}) as Socket);
    const due: number[] = [];
    for (const [at, socket] of sockets.entries()) {
      const turn = turns.next(socket);
      if (turn === undefined) due.push(at);
      else void turn.then(() => due.push(at));
    }
    expect(due).toEqual([0, 1]);
    // Their connections give way to new ones meanwhile.
    expect([...idle]).toEqual(sockets.slice(2));
    await vi.advanceTimersToNextTimerAsync();
    expect(due).toEqual([0, 1, 2, 3]);
    await vi.advanceTimersToNextTimerAsync();
    expect(due).toEqual([0, 1, 2, 3, 4]);
    expect(idle.size).toBe(0);
  });

  it("wait while connections arrive, and go out after that", async () => {
    const limit = { requestStarted: () => {}, requestEnded: () => {} };
    const arriving = Promise.withResolvers<void>();
    const turns = createUnverifiedTurns(limit, { quiet: arriving.promise }, 2);
    const due = { count: 0 };
    for (let at = 0; at < 5; at += 1) void turns.next({} as Socket)?.then(() => (due.count += 1));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(due.count).toBe(0);
    arriving.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(due.count).toBeGreaterThan(0);
  });
});
