import { sql } from "kysely";
import type { EventKey } from "../domain/index.ts";
import { storableText } from "./column-values.ts";
import type { Database } from "./database.ts";
import type { FailedAttempt } from "./failures.ts";
import { type FailureLease, type FailureStore, type StoredFailure, toFailure } from "./failures.ts";
import type { Lease } from "./lease.ts";

const FAILURES = "oncehook_failures";
/** The condition of the index, word for word. */
const SUSPECT = sql<boolean>`crashes > 0`;

export const NO_LEASE = {
  lease_owner: null,
  leased_until: null,
  leased_at: null,
  lease_kind: null,
  lease_alone: 0,
  lease_bulk_id: null,
} as const;

type Leasing = Pick<FailureStore, "leaseDue" | "leaseSuspect" | "isSuspectDue" | "leaseOne">;

/** Takes the leases of failures. */
export function leaseQueries(database: Database): Leasing {
  return {
    leaseDue: (lease, limit) => leaseDue(database, lease, limit),
    leaseSuspect: (lease) => leaseSuspect(database, lease),
    isSuspectDue: (now) => isSuspectDue(database, now),
    leaseOne: (key, lease) => leaseOne(database, key, lease),
  };
}

async function leaseDue({ write, dialect }: Database, lease: Lease, limit: number): Promise<StoredFailure[]> {
  const rows = await write
    .with("due", (db) => {
      const due = db
        .selectFrom(FAILURES)
        .select("id")
        .where("state", "=", "waiting")
        .where("next_attempt_at", "<=", lease.now.toISOString())
        .where("lease_owner", "is", null)
        .where("crashes", "=", 0)
        .orderBy("next_attempt_at")
        .limit(limit);
      // Many processes share the due rows without waiting for each other; SQLite has one writer anyway.
      return dialect === "postgres" ? due.forUpdate().skipLocked() : due;
    })
    .updateTable(FAILURES)
    .set(retryLease(lease, 0))
    .where("id", "in", (eb) => eb.selectFrom("due").select("due.id"))
    .returningAll()
    .execute();
  return rows.map(toFailure).sort((a, b) => (a.nextAttemptAt ?? "").localeCompare(b.nextAttemptAt ?? ""));
}

async function leaseSuspect({ write, dialect }: Database, lease: Lease): Promise<StoredFailure | undefined> {
  const row = await write
    .with("due", (db) => {
      const due = suspectsDue(db, lease.now)
        .select("id")
        .orderBy("crashes")
        .orderBy("next_attempt_at")
        .limit(1);
      return dialect === "postgres" ? due.forUpdate().skipLocked() : due;
    })
    .updateTable(FAILURES)
    .set(retryLease(lease, 1))
    .where("id", "in", (eb) => eb.selectFrom("due").select("due.id"))
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? undefined : toFailure(row);
}

async function isSuspectDue({ read }: Database, now: Date): Promise<boolean> {
  return (await suspectsDue(read, now).select("id").limit(1).executeTakeFirst()) !== undefined;
}

function suspectsDue(query: Pick<Database["read"], "selectFrom">, now: Date) {
  return query
    .selectFrom(FAILURES)
    .where(SUSPECT)
    .where("next_attempt_at", "<=", now.toISOString())
    .where("state", "=", "waiting")
    .where("lease_owner", "is", null);
}

function retryLease(lease: Lease, alone: 0 | 1) {
  return {
    ...leaseOf({ ...lease, isAlone: alone === 1 }),
    lease_kind: "retry" as const,
    attempts: sql<number>`attempts + 1`,
    retries_done: sql<number>`retries_done + 1`,
  };
}

function leaseOf({ owner, now, until, isAlone = false, bulkReplayId }: FailureLease) {
  return {
    lease_owner: owner,
    leased_until: until.toISOString(),
    leased_at: now.toISOString(),
    lease_alone: isAlone ? (1 as const) : (0 as const),
    lease_bulk_id: bulkReplayId ?? null,
  };
}

async function leaseOne(
  { write, read }: Database,
  key: EventKey,
  lease: FailureLease,
): Promise<StoredFailure | "absent" | "leased"> {
  const { kind = "replay" } = lease;
  const row = await write
    .updateTable(FAILURES)
    .set({ ...leaseOf(lease), lease_kind: kind })
    .$if(kind !== "removal", (query) => query.set({ attempts: sql<number>`attempts + 1` }))
    .where("event_id", "=", key.eventId)
    .where("source", "=", key.source)
    .where("lease_owner", "is", null)
    .returningAll()
    .executeTakeFirst();
  if (row !== undefined) return toFailure(row);
  const there = await read
    .selectFrom(FAILURES)
    .select("id")
    .where("event_id", "=", key.eventId)
    .where("source", "=", key.source)
    .executeTakeFirst();
  return there === undefined ? "absent" : "leased";
}

type Query = Database["write"];

/** After a leased attempt failed again. */
export async function rescheduleFailure(
  database: Database,
  key: EventKey,
  owner: string,
  again: FailedAttempt,
): Promise<void> {
  const next = again.nextAttemptAt?.toISOString() ?? null;
  await updateAndCountForBulk(database, again.bulkReplayId, (query) =>
    leased(query, key, owner)
      .set({
        code: again.code,
        error: storableText(again.error),
        last_failed_at: again.now.toISOString(),
        crashes: 0,
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
export async function releaseFailure(
  database: Database,
  ...[key, owner, next, bulkReplayId]: Parameters<FailureStore["release"]>
): Promise<void> {
  await updateAndCountForBulk(database, bulkReplayId, (query) =>
    leased(query, key, owner)
      .set({ ...UNCOUNTED, ...NO_LEASE, ...triedBy(bulkReplayId) })
      .$if(next !== undefined, (one) => one.set({ next_attempt_at: next?.toISOString() ?? null }))
      .executeTakeFirstOrThrow(),
  );
}

function leased(query: Query, key: EventKey, owner: string) {
  return query
    .updateTable("oncehook_failures")
    .where("event_id", "=", key.eventId)
    .where("source", "=", key.source)
    .where("lease_owner", "=", owner);
}

/** One that a bulk replay has tried is counted with the change that says so: whatever dies, it counts once. */
async function updateAndCountForBulk(
  { write, transact }: Database,
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
