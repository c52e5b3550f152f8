import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ADVISORY_LOCKS } from "../../src/store/advisory-locks.ts";

it("each advisory lock has a number of its own, and each statement takes it from the one table of numbers", () => {
  const numbers = Object.values(ADVISORY_LOCKS);
  expect(new Set(numbers).size).toBe(numbers.length);
  const calls = globSync("src/**/*.ts").flatMap((path) => [
    ...readFileSync(path, "utf8").matchAll(/pg_(?:try_)?advisory_(?:xact_)?lock\((.*)/g),
  ]);
  expect(calls.length).toBeGreaterThanOrEqual(numbers.length);
  expect(calls.filter(([, rest = ""]) => !rest.includes("ADVISORY_LOCKS."))).toEqual([]);
});
