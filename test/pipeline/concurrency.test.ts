import { expect, it } from "vitest";
import { createConcurrencyLimit } from "../../src/pipeline/index.ts";

it("a place is free again after a run, also after one that throws", async () => {
  const places = createConcurrencyLimit(1);
  await expect(places.run(() => Promise.reject(new Error("a fault")))).rejects.toThrow("a fault");
  expect(await places.run(async () => places.active)).toBe(1);
  expect([places.active, places.overload()]).toEqual([0, undefined]);
});
