import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { success } from "../../src/domain/index.ts";
import { createEventLock } from "../../src/pipeline/concurrency.ts";
import { StoreError } from "../../src/store/index.ts";

it("a duplicate waits until its own deadline and no longer, while the first delivery is still in flight", async () => {
  const flights = createEventLock();
  const key = { source: "platform", eventId: "e1" };
  const first = Promise.withResolvers<void>();
  const end = performance.now() + 60_000;
  const running = flights.run(key, end, async () => {
    await first.promise;
    return success({ run: 1 });
  });
  const begun = performance.now();
  const late = await flights.run(key, begun + 50, async () => success({ run: 2 }));
  expect(late).toMatchObject({ kind: "failed", code: "event_in_progress" });
  const waited = performance.now() - begun;
  expect(waited).toBeGreaterThanOrEqual(45);
  expect(waited).toBeLessThan(5_000);
  const patient = flights.run(key, end, async (hasWaited) => success({ hasWaited }));
  first.resolve();
  expect([await running, await patient]).toEqual([success({ run: 1 }), success({ hasWaited: true })]);
});

describe("deliveries of one event", () => {
  const key = { source: "platform", eventId: "e1" };
  const end = performance.now() + 60_000;

  it("run one by one, also one that comes after the first has ended while another still runs", async () => {
    const flights = createEventLock();
    const order: string[] = [];
    const gates = [
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
    ];
    const deliver = (index: number) =>
      flights.run(key, end, async () => {
        order.push(`${index} begins`);
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
    expect(order).toEqual(["0 begins", "0 ends", "1 begins"]);
    gates[1]?.resolve();
    gates[2]?.resolve();
    await Promise.all([second, third]);
    expect(order).toEqual(["0 begins", "0 ends", "1 begins", "1 ends", "2 begins", "2 ends"]);
  });

  it("wait for none that has ended, whether one has run or several", async () => {
    const flights = createEventLock();
    const waited: boolean[] = [];
    const deliver = () =>
      flights.run(key, end, async (hasWaited) => {
        waited.push(hasWaited);
        return success({});
      });
    await deliver();
    await deliver();
    await Promise.all([deliver(), deliver()]);
    await nextTurn();
    await deliver();
    expect(waited).toEqual([false, false, false, true, false]);
  });

  it("run although the one before them throws, which is a failure of that one alone", async () => {
    const flights = createEventLock();
    const outcomes = await Promise.all([
      flights.run(key, end, () => Promise.reject(new Error("a fault outside the attempt"))),
      flights.run(key, end, () => Promise.reject(new StoreError("unavailable", "cut off", undefined))),
      flights.run(key, end, async () => success({ run: 3 })),
    ]);
    expect(outcomes).toMatchObject([
      { kind: "failed", code: "internal" },
      { kind: "failed", code: "store_unavailable" },
      success({ run: 3 }),
    ]);
  });

  it("leave no timer of their deadline behind when they have waited", async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const flights = createEventLock();
    const before = timers();
    await Promise.all([1, 2].map(() => flights.run(key, end, async () => success({}))));
    expect(timers()).toBe(before);
  });
});
