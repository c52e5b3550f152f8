import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { fill } from "../../scripts/measure/fill.ts";
import { createAdminClient } from "../../src/admin-client/index.ts";
import type { Store } from "../../src/store/index.ts";
import { withStoreBeside } from "../support/beside.ts";
import { ended, startChild } from "../support/child.ts";
import { DIALECTS, type Target, withMigrated } from "../support/databases.ts";
import { countOf } from "../support/effects.ts";
import { startReceiver } from "../support/receiver.ts";
import { TOKEN } from "../support/secrets.ts";
import { until } from "../support/until.ts";

const LIMIT_MS = 300_000;
const PATIENCE_MS = 60_000;
const SEGMENTS = 12;
const ROWS = SEGMENTS * 4_096;
/** Longer than any lease of the one before; on PostgreSQL, than any transaction that could still be open. */
const STEP_SECONDS = 600;
/** How long after the end of a segment each process is killed, in milliseconds: while it reads, sorts and writes the next. */
const KILLED_AFTER = [0, 30, 60, 110, 160];

const segmentsOf = (target: Target) => countOf(target, "oncehook_value_segments");

async function buildUntil(target: Target, step: number, isThere: () => Promise<boolean>, killAfterMs = 0) {
  const child = startChild("test/support/value-index-child.ts", [target.url, String((step + 1) * STEP_SECONDS)]);
  const end = ended(child);
  try {
    await until(isThere, PATIENCE_MS);
    await sleep(killAfterMs);
  } finally {
    child.kill("SIGKILL");
    await end;
  }
}

/** How often each callback stands in the index, by its request id. */
async function indexed({ valueIndex }: Store): Promise<Map<number, number>> {
  const times = new Map<number, number>();
  for (const segment of await valueIndex.segments()) {
    const [found] = [...(await valueIndex.idsOf([segment], "request-", "prefix")).values()];
    for (const id of found?.longer ?? []) times.set(id, (times.get(id) ?? 0) + 1);
  }
  return times;
}

describe.each(DIALECTS)("an index of values on %s whose processes are killed while they build it", (dialect) => {
  it("every callback is found exactly once after the restart", { timeout: LIMIT_MS }, () =>
    withMigrated(dialect, async (target) => {
      await (await startReceiver(target)).stop();
      await fill(target, ROWS);
      // On PostgreSQL rows count once the transactions of their time are over.
      await withStoreBeside(target, ({ valueIndex }) => valueIndex.settledBelow(new Date()));
      for (const [step, killAfterMs] of KILLED_AFTER.entries()) {
        const before = await segmentsOf(target);
        await buildUntil(target, step, async () => (await segmentsOf(target)) > before, killAfterMs);
      }
      expect(await segmentsOf(target)).toBeLessThan(SEGMENTS);
      await buildUntil(target, KILLED_AFTER.length, async () => (await segmentsOf(target)) === SEGMENTS);
      const times = await withStoreBeside(target, indexed);
      expect([times.size, [...times.values()].filter((count) => count !== 1)]).toEqual([ROWS, []]);

      const receiver = await startReceiver(target);
      const { search } = createAdminClient({ origin: receiver.adminOrigin, token: TOKEN });
      for (let row = 1; row <= ROWS; row += 499) {
        const found: unknown[] = [];
        for (let cursor: string | undefined; ; ) {
          const { items, next_cursor } = await search.find({ q: `data.order_id:order-${row}`, cursor });
          found.push(...items.map(({ request_id, matched }) => [request_id, matched?.kind]));
          if (next_cursor === null) break;
          cursor = next_cursor;
        }
        expect([row, found]).toEqual([row, [[`request-${row}`, "exact"]]]);
      }
      await receiver.stop();
    }),
  );
});
