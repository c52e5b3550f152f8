import { describe, expect, it } from "vitest";
import { checkTarget } from "../support/check-target.ts";
import { DIALECTS, withDatabase } from "../support/databases.ts";
import { runKilledBackfill } from "../support/killed-backfill.ts";

const EVENTS = 600;

/** `npm run torture:backfill` runs it with 100,000 events. */
describe.each(DIALECTS)("a backfill on %s whose receiver is killed ten times", (dialect) => {
  it("each stored event has one effect, beside live events and redeliveries", { timeout: 400_000 }, () =>
    withDatabase(dialect, async (target) => {
      const { counts, ...ended } = await runKilledBackfill(target, { events: EVENTS, kills: 10, perSecond: 200 });
      expect(ended).toMatchObject({ withoutEffect: 0, doubled: 0, failures: 0 });
      expect([ended.live > 0, ended.redelivered > 0]).toEqual([true, true]);
      // A step is accepted and counted at once, or not at all; a merged block may be met again.
      expect(counts.accepted).toBeLessThanOrEqual(EVENTS);
      expect(counts.accepted + counts.alreadyTaken).toBeGreaterThanOrEqual(EVENTS);
      expect((await checkTarget(target)).invariants.filter(({ violations }) => violations > 0)).toEqual([]);
    }),
  );
});
