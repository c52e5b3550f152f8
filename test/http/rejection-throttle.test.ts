import type { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createRejectionThrottle, createUnverifiedTurns } from "../../src/http/admission.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** How many of these requests were turned away so far. */
function turnAway(requests: number, turningAway = createRejectionThrottle(1_000, 20)) {
  const away = { count: 0 };
  for (let request = 0; request < requests; request += 1) {
    const turn = turningAway.wait();
    if (turn === undefined) away.count += 1;
    else
      void turn.then(() => {
        away.count += 1;
      });
  }
  return away;
}

describe("requests that find no place", () => {
  it("a few excess requests are rejected at once", () => {
    expect(turnAway(20).count).toBe(20);
  });

  it("many excess requests are rejected at a bounded rate until none is left", async () => {
    const away = turnAway(220);
    await vi.advanceTimersByTimeAsync(100);
    expect(away.count).toBe(120);
    await vi.advanceTimersByTimeAsync(110);
    expect(away.count).toBe(220);
  });

  it("excess requests are rejected at once where the queue of rejections is full", () => {
    expect(turnAway(20 + 250 + 1_000).count).toBe(20 + 1_000);
  });

  it("a new rejection does not overtake those that wait", async () => {
    const turningAway = createRejectionThrottle(1_000, 20);
    const first = turnAway(40, turningAway);
    await vi.advanceTimersByTimeAsync(4);
    const second = turnAway(1, turningAway);
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
