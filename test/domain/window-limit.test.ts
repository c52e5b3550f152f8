import { expect, it } from "vitest";
import { createWindowLimit } from "../../src/domain/index.ts";

const at = (seconds: number) => new Date(1_000_000 + seconds * 1_000);

it("a limit admits so many, and as many again once the stretch that began with the first is over", () => {
  const admits = createWindowLimit(2, 60_000);
  expect([0, 30, 59, 60, 61, 62].map((second) => admits(at(second)))).toEqual([true, true, false, true, true, false]);
});

it("a window starts again when the clock is set back, instead of waiting until the clock has caught up", () => {
  const admits = createWindowLimit(1, 60_000);
  expect([7_200, 0, 30, 60].map((second) => admits(at(second)))).toEqual([true, true, false, true]);
});
