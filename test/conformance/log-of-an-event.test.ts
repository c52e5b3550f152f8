import { describe, expect, it } from "vitest";
import type { Store } from "../../src/store/index.ts";
import { checkTarget } from "../support/check-target.ts";
import { DIALECTS, withStore } from "../support/databases.ts";
import { committing, newRecord } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { listCallbacks } from "../support/list-callbacks.ts";
import { logRow } from "../support/log-row.ts";
import { runOnce } from "../support/once.ts";

const NOW = new Date();
const LATER = new Date(NOW.getTime() + 60_000);
const KEEP = new Date(0);

/** Handles an event, whose log row commits with it. */
async function handle(store: Store, eventId: string): Promise<void> {
  const row = logRow({ eventId, requestId: `handled ${eventId}`, receivedAt: NOW.toISOString() });
  await runOnce(store, newRecord(eventId), async () => ({ result: {}, logEntry: row }), committing());
}

async function logOf(store: Store, eventId: string): Promise<string[]> {
  return (await listCallbacks(store, { limit: 9 }, { eventId })).map(({ requestId }) => requestId);
}

describe.each(DIALECTS)("the log of an event on %s", (dialect) => {
  it("the log of an event has the row that was committed with its record, and those of its duplicates", () =>
    withStore(dialect, async (store) => {
      await handle(store, "e1");
      await handle(store, "e2");
      await store.appendCallbacks([logRow({ eventId: "e1", requestId: "duplicate of e1" })]);
      expect(await logOf(store, "e1")).toEqual(["duplicate of e1", "handled e1"]);
    }));

  it("the log of an event is found as long as it is kept, also after its record is deleted", () =>
    withStore(dialect, async (store) => {
      for (const id of ["e1", "e2"]) await handle(store, id);
      const limits = { callbacks: KEEP, records: LATER, refusedRowsKept: 10, now: NOW };
      expect(await store.retention.sweep(limits)).toMatchObject({ callbacks: 0, records: 1 });
      expect(await logOf(store, "e1")).toEqual(["handled e1"]);
    }));

  it("the log of an event never has a row of another event that reuses the id of its own", () =>
    withStore(dialect, async (store, target) => {
      await handle(store, "e1");
      await execute(target, "DELETE FROM oncehook_callbacks");
      await handle(store, "e2");
      expect(await logOf(store, "e1")).toEqual([]);
      expect(await logOf(store, "e2")).toEqual(["handled e2"]);
    }));

  it("the retention job keeps the newest log entry, whose id must not be used again, and verify finds no violation", () =>
    withStore(
      dialect,
      async (store, target) => {
        for (const id of ["e1", "e2"]) await handle(store, id);
        const limits = { callbacks: LATER, refusedRowsKept: 10, now: NOW };
        expect(await store.retention.sweep(limits)).toMatchObject({ callbacks: 1 });
        await handle(store, "e3");
        const { invariants } = await checkTarget(target);
        expect(invariants.filter(({ violations }) => violations > 0)).toEqual([]);
      },
      // Before the time in which verify expects the entry of each record.
      { clock: { now: () => new Date(NOW.getTime() - 7 * 86_400_000) } },
    ));
});
