import { expect, it } from "vitest";
import { createPlaces } from "../../src/receive/index.ts";

it("a place is free again after a run, also after one that throws", async () => {
  const places = createPlaces(1);
  await expect(places.take(() => Promise.reject(new Error("a fault")))).rejects.toThrow("a fault");
  expect(await places.take(async () => places.taken)).toBe(1);
  expect([places.taken, places.refusal()]).toEqual([0, undefined]);
});
