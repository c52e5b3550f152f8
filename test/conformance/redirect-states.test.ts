import { describe, expect, it } from "vitest";
import { DIALECTS, withStore } from "../support/databases.ts";
import { countOf, within } from "../support/effects.ts";

const T0 = new Date("2026-01-01T00:00:00.000Z");
const at = (seconds: number) => new Date(T0.getTime() + seconds * 1000);
const MAX_SPENT = 10_000;

describe.each(DIALECTS)("a registered OAuth state on %s", (dialect) => {
  it("a state that is registered again is expected until its new end", () =>
    withStore(dialect, async ({ redirectStates }) => {
      await redirectStates.register("hash", at(600), T0);
      await redirectStates.register("hash", at(900), at(300));
      expect(await redirectStates.isRegistered("hash", at(899), within(10_000))).toBe(true);
      expect(await redirectStates.isRegistered("hash", at(900), within(10_000))).toBe(false);
    }));

  it("a state is consumed alone", () =>
    withStore(dialect, async ({ redirectStates }) => {
      for (const state of ["one", "another"]) await redirectStates.register(state, at(600), T0);
      await redirectStates.consume("one");
      expect(await redirectStates.isRegistered("one", T0, within(10_000))).toBe(false);
      expect(await redirectStates.isRegistered("another", T0, within(10_000))).toBe(true);
    }));
});

describe("spent OAuth states", () => {
  it(
    "the spent states within a flow's time are at most ten thousand, and a new one replaces the first to expire",
    { tags: "full" },
    () =>
      withStore("sqlite", async ({ redirectStates }, target) => {
        await redirectStates.spend("first to expire", at(300), T0);
        const spend = (n: number) => redirectStates.spend(`state ${n}`, at(600), T0);
        for (let from = 1; from < MAX_SPENT; from += 1_111)
          await Promise.all(
            Array.from({ length: Math.min(1_111, MAX_SPENT - from) }, (_, index) => spend(from + index)),
          );
        expect(await redirectStates.isSpent("first to expire", within(10_000))).toBe(true);
        await redirectStates.spend("one more", at(600), T0);
        expect(await redirectStates.isSpent("first to expire", within(10_000))).toBe(false);
        expect(await redirectStates.isSpent("one more", within(10_000))).toBe(true);
        expect(await countOf(target, "oncehook_spent_states")).toBe(MAX_SPENT);
      }),
  );
});
