import { describe, expect, it } from "vitest";
import { runChild } from "../support/child.ts";
import { DIALECTS, openTarget, withDatabase } from "../support/databases.ts";
import { committing, countOf, EFFECTS, newRecord } from "../support/effects.ts";
import { runOnce } from "../support/once.ts";

const CHILD = "test/support/once-child.ts";

describe.each(DIALECTS)("several processes on one %s database", (dialect) => {
  it("an event whose process dies before the commit leaves nothing, and its redelivery runs", () =>
    withDatabase(dialect, async (target) => {
      expect((await runChild(CHILD, [target.url, "crash-before"])).signal).toBe("SIGKILL");
      const { store } = await openTarget(target, { migrations: [EFFECTS] });
      expect(await countOf(target, "effects")).toBe(0);
      expect(await countOf(target, "oncehook_records")).toBe(0);
      expect((await runOnce(store, newRecord("e0"), async () => ({ result: {} }), committing())).kind).toBe(
        "completed",
      );
      await store.close();
    }));

  it("an event whose process dies right after the commit is kept, and its redelivery is already processed", () =>
    withDatabase(dialect, async (target) => {
      expect((await runChild(CHILD, [target.url, "crash-after"])).signal).toBe("SIGKILL");
      const { store } = await openTarget(target, { migrations: [EFFECTS] });
      expect(await countOf(target, "effects")).toBe(1);
      expect((await runOnce(store, newRecord("e0"), async () => ({ result: {} }), committing())).kind).toBe(
        "duplicate",
      );
      await store.close();
    }));

  it("two processes that race for 100 events handle each once", () =>
    withDatabase(dialect, async (target) => {
      const { store } = await openTarget(target, { migrations: [EFFECTS] });
      await store.close();
      const children = await Promise.all([
        runChild(CHILD, [target.url, "race", "100"]),
        runChild(CHILD, [target.url, "race", "100"]),
      ]);
      const endings = children.flatMap(({ stdout }) => JSON.parse(stdout) as string[]);
      expect(endings.filter((ending) => ending === "completed")).toHaveLength(100);
      expect(endings.filter((ending) => ending === "duplicate")).toHaveLength(100);
      expect(await countOf(target, "effects")).toBe(100);
    }));
});
