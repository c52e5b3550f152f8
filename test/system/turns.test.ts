import { describe, expect, it } from "vitest";
import { Turns } from "../../src/system/index.ts";

const LATER = () => performance.now() + 60_000;

describe("turns", () => {
  it("a queue runs as many at a time as its bound allows, and the others in order of arrival", async () => {
    const turns = new Turns();
    const order: number[] = [];
    const first = await turns.take("line", 2, LATER());
    const second = await turns.take("line", 2, LATER());
    const waiting = [3, 4].map(async (number) => {
      const end = await turns.take("line", 2, LATER());
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
    const turns = new Turns();
    const end = await turns.take("line", 1, LATER());
    expect(await turns.take("line", 1, performance.now() + 10)).toBeUndefined();
    const next = turns.take("line", 1, LATER());
    end?.();
    expect(await next).toBeTypeOf("function");
  });

  it("two queues do not wait for each other", async () => {
    const turns = new Turns();
    await turns.take("one", 1, LATER());
    expect(await turns.take("other", 1, LATER())).toBeTypeOf("function");
  });
});
