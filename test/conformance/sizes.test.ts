import { describe, expect, it } from "vitest";
import { DIALECTS, withStore } from "../support/databases.ts";
import { committing, newRecord } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { runOnce } from "../support/once.ts";
import { seedRows } from "../support/query-plans.ts";

describe.each(DIALECTS)("the sizes of what is stored on %s", { tags: "full" }, (dialect) => {
  it("each area has its rows and bytes, and an empty one has none", () =>
    withStore(dialect, async (store, target) => {
      await runOnce(store, newRecord("first"), async () => ({ result: {} }), committing());
      await execute(
        target,
        `INSERT INTO oncehook_attempts (source, event_id, started_at, triggered_by, outcome, duration_ms)
          VALUES ('shop', 'first', '2026-01-02T03:04:05.678Z', 'replay', 'success', 1)`,
      );
      if (dialect === "postgres") await execute(target, "ANALYZE");
      const { areas, databaseBytes, freeBytes } = await store.sizes.list();
      const sizes = new Map(areas.map(({ area, ...size }) => [area, size]));
      expect(sizes.get("records")?.rows).toBe(1);
      expect(sizes.get("records")?.bytes).toBeGreaterThan(0);
      expect(sizes.get("records")).toMatchObject({ entries: 1, isEstimated: dialect === "postgres" });
      expect(sizes.get("originals")?.entries).toBeNull();
      // Failures are kept until they are handled, attempts as long as the log.
      expect([sizes.get("failures")?.entries, sizes.get("attempts")?.entries]).toEqual([0, 1]);
      // Its tables are there before the first row, and so are its settings.
      expect(sizes.get("others")?.rows).toBeGreaterThan(0);
      expect(databaseBytes).toBeGreaterThan(10_000);
      if (dialect === "sqlite") expect(freeBytes).toBeGreaterThanOrEqual(0);
      else expect(freeBytes).toBeNull();
    }));

  it("a large table is estimated within a tenth, from its statistics or a sample", () =>
    withStore(dialect, async (store, target) => {
      await seedRows(target);
      // Ids with gaps, as a table has in which rows were deleted.
      const numbers =
        dialect === "sqlite"
          ? "WITH RECURSIVE g(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM g WHERE n < 20000)"
          : "WITH g AS (SELECT generate_series(1, 20000) AS n)";
      const time = dialect === "sqlite" ? "'2026-01-02T03:04:05.678Z'" : "now()";
      await execute(
        target,
        `${numbers} INSERT INTO oncehook_audit (at, actor, remote_address, action, target)
          SELECT ${time}, 'ada', '127.0.0.1', 'alert.mute', 'a target of some forty characters, or more' FROM g`,
      );
      await execute(target, "DELETE FROM oncehook_audit WHERE id > 3000 AND id % 4 = 0");
      if (dialect === "postgres") await execute(target, "ANALYZE oncehook_audit");
      const { areas } = await store.sizes.list();
      const audit = areas.find(({ area }) => area === "audit");
      expect(audit?.isEstimated).toBe(true);
      const sessions = 3_000;
      expect(Math.abs((audit?.rows ?? 0) - (3_000 + 15_000 + sessions))).toBeLessThan(2_100);
      expect(audit?.bytes).toBeGreaterThan(15_000 * 60);
    }));
});
