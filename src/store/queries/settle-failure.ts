import { sql } from "kysely";
import type { EventKey } from "../../domain/index.ts";
import type { FailedAgain, FailureStore } from "../store.ts";
import type { Access } from "./access.ts";
import { NO_LEASE } from "./lease-failures.ts";
import { storableText } from "./rows.ts";

const TABLE = "oncehook_failures";
type Query = Access["write"];

/** After a leased attempt failed again. */
export async function reschedule(
  access: Access,
  key: EventKey,
  owner: string,
  again: FailedAgain,
): Promise<void> {
  const next = again.nextAttemptAt?.toISOString() ?? null;
  await settled(access, again.bulkReplayId, (query) =>
    leased(query, key, owner)
      .set({
        code: again.code,
        error: storableText(again.error),
        last_failed_at: again.now.toISOString(),
        unclean_ends: 0,
        ...NO_LEASE,
        ...triedBy(again.bulkReplayId),
      })
      .$if(again.kind === "retry", (one) =>
        one.set({ next_attempt_at: next, state: next === null ? "exhausted" : "waiting" }),
      )
      .executeTakeFirstOrThrow(),
  );
}

/** What the lease has counted: an attempt, and of a retry that too. */
const UNCOUNTED = {
  attempts: sql<number>`attempts - CASE WHEN lease_kind IN ('retry', 'replay', 'bulk') THEN 1 ELSE 0 END`,
  retries_done: sql<number>`retries_done - CASE WHEN lease_kind = 'retry' THEN 1 ELSE 0 END`,
};

/** Gives a lease back, and what it has counted; a suspect stays one. */
export async function release(
  access: Access,
  ...[key, owner, next, bulkReplayId]: Parameters<FailureStore["release"]>
): Promise<void> {
  await settled(access, bulkReplayId, (query) =>
    leased(query, key, owner)
      .set({ ...UNCOUNTED, ...NO_LEASE, ...triedBy(bulkReplayId) })
      .$if(next !== undefined, (one) => one.set({ next_attempt_at: next?.toISOString() ?? null }))
      .executeTakeFirstOrThrow(),
  );
}

function leased(query: Query, key: EventKey, owner: string) {
  return query
    .updateTable(TABLE)
    .where("event_id", "=", key.eventId)
    .where("source", "=", key.source)
    .where("lease_owner", "=", owner);
}

/** One that a bulk replay has tried is counted with the change that says so: whatever dies, it counts once. */
async function settled(
  { write, transact }: Access,
  bulkReplayId: number | undefined,
  change: (query: Query) => Promise<{ readonly numUpdatedRows: bigint }>,
): Promise<void> {
  if (bulkReplayId === undefined) {
    await change(write);
    return;
  }
  await transact(async (query) => {
    const { numUpdatedRows } = await change(query);
    if (numUpdatedRows === 0n) return;
    await query
      .updateTable("oncehook_bulk_replays")
      .set((eb) => ({ failed: eb("failed", "+", 1) }))
      .where("id", "=", bulkReplayId)
      .execute();
  });
}

function triedBy(bulkReplayId: number | undefined): { bulk_replay_id?: number } {
  return bulkReplayId === undefined ? {} : { bulk_replay_id: bulkReplayId };
}
