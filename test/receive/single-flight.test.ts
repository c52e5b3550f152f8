import { expect, it } from "vitest";
import { success } from "../../src/domain/index.ts";
import { createSingleFlight } from "../../src/receive/single-flight.ts";

it("a duplicate waits until its own deadline and no longer, while the first delivery is still in flight", async () => {
  const flights = createSingleFlight();
  const key = { source: "platform", eventId: "e1" };
  const first = Promise.withResolvers<void>();
  const end = performance.now() + 60_000;
  const running = flights.take(key, end, async () => {
    await first.promise;
    return success({ run: 1 });
  });
  const begun = performance.now();
  const late = await flights.take(key, begun + 50, async () => success({ run: 2 }));
  expect(late).toMatchObject({ ending: "failed", code: "event_in_progress" });
  const waited = performance.now() - begun;
  expect(waited).toBeGreaterThanOrEqual(45);
  expect(waited).toBeLessThan(5_000);
  const patient = flights.take(key, end, async (hasWaited) => success({ hasWaited }));
  first.resolve();
  expect([await running, await patient]).toEqual([success({ run: 1 }), success({ hasWaited: true })]);
});
