import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { success } from "../../src/domain/index.ts";
import { ConcurrencyLimit, EventLock } from "../../src/pipeline/index.ts";
import { StoreError } from "../../src/store/index.ts";

const KEY = { source: "platform", eventId: "e1" };
const END = performance.now() + 60_000;

describe("the lock of an event", () => {
  it("a delivery waits for the event lock until its own deadline and no longer", async () => {
    const lock = new EventLock();
    const first = Promise.withResolvers<void>();
    const running = lock.run(KEY, END, async () => {
      await first.promise;
      return success({ run: 1 });
    });
    const startedAt = performance.now();
    const late = await lock.run(KEY, startedAt + 50, async () => success({ run: 2 }));
    expect(late).toMatchObject({ kind: "failed", code: "event_in_progress" });
    const waited = performance.now() - startedAt;
    expect(waited).toBeGreaterThanOrEqual(45);
    expect(waited).toBeLessThan(5_000);
    const next = lock.run(KEY, END, async () => success({ run: 3 }));
    first.resolve();
    expect([await running, await next]).toEqual([success({ run: 1 }), success({ run: 3 })]);
  });

  it("the lock of an event lets the deliveries run one by one, also one that arrives after the first has ended", async () => {
    const lock = new EventLock();
    const order: string[] = [];
    const gates = [1, 2, 3].map(() => Promise.withResolvers<void>());
    const deliver = (index: number) =>
      lock.run(KEY, END, async () => {
        order.push(`${index} starts`);
        await gates[index]?.promise;
        order.push(`${index} ends`);
        return success({});
      });
    const first = deliver(0);
    const second = deliver(1);
    gates[0]?.resolve();
    await first;
    await nextTurn();
    const third = deliver(2);
    await nextTurn();
    expect(order).toEqual(["0 starts", "0 ends", "1 starts"]);
    gates[1]?.resolve();
    gates[2]?.resolve();
    await Promise.all([second, third]);
    expect(order).toEqual(["0 starts", "0 ends", "1 starts", "1 ends", "2 starts", "2 ends"]);
  });

  it("the event lock is free after its holders, one or several", async () => {
    const lock = new EventLock();
    const run = () => lock.run(KEY, END, async () => success({}));
    await run();
    await Promise.all([run(), run()]);
    const end = lock.tryAcquire(KEY);
    expect([typeof end, lock.tryAcquire(KEY)]).toEqual(["function", undefined]);
    end?.();
    expect(lock.tryAcquire(KEY)).toBeTypeOf("function");
  });

  it("a run that throws passes the event lock on, and its error fails that delivery alone", async () => {
    const lock = new EventLock();
    const outcomes = await Promise.all([
      lock.run(KEY, END, () => Promise.reject(new Error("a fault outside the attempt"))),
      lock.run(KEY, END, () => Promise.reject(new StoreError("unavailable", "cut off", undefined))),
      lock.run(KEY, END, async () => success({ run: 3 })),
    ]);
    expect(outcomes).toMatchObject([
      { kind: "failed", code: "internal" },
      { kind: "failed", code: "store_unavailable" },
      success({ run: 3 }),
    ]);
  });

  it("the lock of an event leaves no timer behind for a delivery that has waited", async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const lock = new EventLock();
    const before = timers();
    await Promise.all([1, 2].map(() => lock.run(KEY, END, async () => success({}))));
    expect(timers()).toBe(before);
  });
});

it("the concurrency limit admits as many callbacks as it has places, and another one when one has left", () => {
  const limit = new ConcurrencyLimit(1);
  expect([limit.enter("a"), limit.active, limit.enter("a")?.code]).toEqual([undefined, 1, "overloaded"]);
  limit.leave("a");
  expect([limit.active, limit.overload("a")]).toEqual([0, undefined]);
});

it("a source that holds all places keeps no other one from its equal share", () => {
  const limit = new ConcurrencyLimit(8);
  const entered = (source: string) =>
    Array.from({ length: 9 }, () => limit.enter(source)).filter((full) => full === undefined).length;
  expect(["a", "b", "c"].map(entered)).toEqual([8, 4, 2]);
  expect(entered("a")).toBe(0);
  for (let left = 0; left < 7; left += 1) limit.leave("a");
  expect(entered("a")).toBe(1);
});
