import type { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createUnverifiedThrottle } from "../../src/http/accept-gate.ts";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe("responses to requests that are not authentic", () => {
  it("responses wait for a later turn of the event loop past so many in one, in the order of their arrival", async () => {
    const idle = new Set<Socket>();
    const limit = {
      requestStarted: (socket: Socket) => void idle.delete(socket),
      requestEnded: (socket: Socket) => void idle.add(socket),
    };
    const throttle = createUnverifiedThrottle(limit, { quiet: undefined }, 2);
    const sockets = Array.from({ length: 5 }, () => ({}) as Socket);
    const due: number[] = [];
    for (const [at, socket] of sockets.entries()) {
      const turn = throttle.wait(socket);
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

  it("responses wait while connections arrive, and go out after that", async () => {
    const limit = { requestStarted: () => {}, requestEnded: () => {} };
    const arriving = Promise.withResolvers<void>();
    const throttle = createUnverifiedThrottle(limit, { quiet: arriving.promise }, 2);
    const due = { count: 0 };
    for (let at = 0; at < 5; at += 1) void throttle.wait({} as Socket)?.then(() => (due.count += 1));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(due.count).toBe(0);
    arriving.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(due.count).toBeGreaterThan(0);
  });
});
