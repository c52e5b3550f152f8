import { describe, expect, it } from "vitest";
import { DIALECTS, openTarget, withDatabase } from "../support/databases.ts";
import { newRecord, within } from "../support/effects.ts";

describe.each(DIALECTS)("a store on %s that is closed", (dialect) => {
  it("refuses a look-up, and nothing else ends with it", () =>
    withDatabase(dialect, async (target) => {
      const { store } = await openTarget(target);
      await store.close();
      const ended: string[] = [];
      const uncaught = (error: Error) => void ended.push(error.message);
      process.prependListener("uncaughtException", uncaught);
      try {
        await expect(store.find(newRecord("e1"), within(100))).rejects.toThrow();
      } finally {
        process.off("uncaughtException", uncaught);
      }
      expect(ended).toEqual([]);
    }));
});
