import { describe, expect, it } from "vitest";
import { KeyedSemaphore } from "../../src/system/index.ts";

const LATER = () => performance.now() + 60_000;

describe("a keyed semaphore", () => {
  it("a queue runs as many at a time as its bound allows, and the others in order of arrival", async () => {
    const semaphore = new KeyedSemaphore();
    const order: number[] = [];
    const first = await semaphore.acquire("line", 2, LATER());
    const second = await semaphore.acquire("line", 2, LATER());
    const waiting = [3, 4].map(async (number) => {
      const end = await semaphore.acquire("line", 2, LATER());
      order.push(number);
      return end;
    });
    await new Promise(setImmediate);
    expect(order).toEqual([]);
    first?.();
    await waiting[0];
    expect(order).toEqual([3]);
    second?.();
    expect(await Promise.all(waiting)).toHaveLength(2);
    expect(order).toEqual([3, 4]);
  });

  it("a waiter that is late leaves the queue and delays no other", async () => {
    const semaphore = new KeyedSemaphore();
    const end = await semaphore.acquire("line", 1, LATER());
    expect(await semaphore.acquire("line", 1, performance.now() + 10)).toBeUndefined();
    const next = semaphore.acquire("line", 1, LATER());
    end?.();
    expect(await next).toBeTypeOf("function");
  });

  it("two queues do not wait for each other", async () => {
    const semaphore = new KeyedSemaphore();
    await semaphore.acquire("one", 1, LATER());
    expect(await semaphore.acquire("other", 1, LATER())).toBeTypeOf("function");
  });
});
