import { sql } from "kysely";
import type { EventKey, FaultCode } from "../domain/index.ts";
import { storableText } from "./column-values.ts";
import { Area, type Database } from "./database.ts";
import { removeIfRecorded, type StoredFailure, toFailure } from "./failures.ts";
import { type Lease, NO_LEASE } from "./lease.ts";

/** A lease of one failure; taking it counts as an attempt, except for a removal. */
export interface FailureLease extends Lease {
  /** Default: a replay. */
  readonly kind?: "replay" | "bulk" | "removal";
  /** Whether its process runs no other failure during it. */
  readonly isAlone?: boolean;
  readonly bulkReplayId?: number | undefined;
}

export interface FailedAttempt {
  readonly kind: "retry" | "replay";
  readonly code: FaultCode;
  readonly error: string;
  readonly now: Date;
  /** Null: no further retry, the failure is exhausted. Ignored for a replay. */
  readonly nextAttemptAt: Date | null;
  /** The bulk replay that made the attempt; it counts the failure in the same transaction. */
  readonly bulkReplayId?: number;
}

const FAILURES = "oncehook_failures";
/** The condition of the index, word for word. */
const SUSPECT = sql<boolean>`crashes > 0`;

/** The columns of a failure without a lease. */
export const NO_FAILURE_LEASE = {
  ...NO_LEASE,
  leased_at: null,
  lease_kind: null,
  lease_alone: 0,
  lease_bulk_id: null,
} as const;

/** The attempts that a lease has counted. */
const UNCOUNTED = {
  attempts: sql<number>`attempts - CASE WHEN lease_kind IN ('retry', 'replay', 'bulk') THEN 1 ELSE 0 END`,
  retries_done: sql<number>`retries_done - CASE WHEN lease_kind = 'retry' THEN 1 ELSE 0 END`,
};

/** The attempts of failures beside their callbacks: retries, replays and removals, each under a lease. */
export class FailureLeases extends Area {
  /**
   * Leases the due failures, oldest first, each to one owner only, without suspects. The lease counts the attempt and the retry,
   * so that an attempt during which the process ends counts too.
   */
  async leaseDue(lease: Lease, limit: number): Promise<StoredFailure[]> {
    const { write, dialect } = this.database;
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
      .set(retryLease(lease, false))
      .where("id", "in", (eb) => eb.selectFrom("due").select("due.id"))
      .returningAll()
      .execute();
    return rows.map(toFailure).sort((a, b) => (a.nextAttemptAt ?? "").localeCompare(b.nextAttemptAt ?? ""));
  }

  /** Leases the due suspect with the fewest process ends, for a process that runs no other failure meanwhile. */
  async leaseSuspect(lease: Lease): Promise<StoredFailure | undefined> {
    const { write, dialect } = this.database;
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
      .set(retryLease(lease, true))
      .where("id", "in", (eb) => eb.selectFrom("due").select("due.id"))
      .returningAll()
      .executeTakeFirst();
    return row === undefined ? undefined : toFailure(row);
  }

  /** Whether a suspect is due. */
  async isSuspectDue(now: Date): Promise<boolean> {
    const due = suspectsDue(this.database.read, now).select("id").limit(1);
    return (await due.executeTakeFirst()) !== undefined;
  }

  /** Leases one failure, whatever its state; `leased` when it has a lease already, even one of a process that has ended. */
  async leaseOne(key: EventKey, lease: FailureLease): Promise<StoredFailure | "absent" | "leased"> {
    const { kind = "replay" } = lease;
    const row = await this.database.write
      .updateTable(FAILURES)
      .set({ ...leaseOf(lease), lease_kind: kind })
      .$if(kind !== "removal", (query) => query.set({ attempts: sql<number>`attempts + 1` }))
      .where("event_id", "=", key.eventId)
      .where("source", "=", key.source)
      .where("lease_owner", "is", null)
      .returningAll()
      .executeTakeFirst();
    if (row !== undefined) return toFailure(row);
    const there = await this.database.read
      .selectFrom(FAILURES)
      .select("id")
      .where("event_id", "=", key.eventId)
      .where("source", "=", key.source)
      .executeTakeFirst();
    return there === undefined ? "absent" : "leased";
  }

  /** After a leased attempt failed again; the failure is no longer suspect. `retry` may exhaust it, a replay does not. */
  async reschedule(key: EventKey, owner: string, again: FailedAttempt): Promise<void> {
    const next = again.nextAttemptAt?.toISOString() ?? null;
    await this.update(again.bulkReplayId, (query) =>
      leased(query, key, owner)
        .set({
          code: again.code,
          error: storableText(again.error),
          last_failed_at: again.now.toISOString(),
          crashes: 0,
          ...NO_FAILURE_LEASE,
          ...triedBy(again.bulkReplayId),
        })
        .$if(again.kind === "retry", (one) =>
          one.set({ next_attempt_at: next, state: next === null ? "exhausted" : "waiting" }),
        )
        .executeTakeFirstOrThrow(),
    );
    await removeIfRecorded(this.database, key);
  }

  /**
   * Releases a lease and takes back the attempt that it counted; a suspect stays one. `nextAttemptAt` defers a waiting failure, so
   * that others come first. `bulkReplayId` counts it as failed by that bulk replay, in the same transaction.
   */
  async release(key: EventKey, owner: string, nextAttemptAt?: Date, bulkReplayId?: number): Promise<void> {
    await this.update(bulkReplayId, (query) =>
      leased(query, key, owner)
        .set({ ...UNCOUNTED, ...NO_FAILURE_LEASE, ...triedBy(bulkReplayId) })
        .$if(nextAttemptAt !== undefined, (one) =>
          one.set({ next_attempt_at: nextAttemptAt?.toISOString() ?? null }),
        )
        .executeTakeFirstOrThrow(),
    );
  }

  /** A bulk replay counts a failure in the transaction that changes it, so that it counts once, whatever process ends. */
  private async update(
    bulkReplayId: number | undefined,
    change: (query: Query) => Promise<{ readonly numUpdatedRows: bigint }>,
  ): Promise<void> {
    if (bulkReplayId === undefined) {
      await change(this.database.write);
      return;
    }
    await this.database.transact(async (query) => {
      const { numUpdatedRows } = await change(query);
      if (numUpdatedRows > 0n) await countFailedReplay(query, bulkReplayId);
    });
  }
}

type Query = Database["write"];

/** In the transaction that settles the failure. */
export async function countFailedReplay(query: Query, bulkReplayId: number): Promise<void> {
  await query
    .updateTable("oncehook_bulk_replays")
    .set((eb) => ({ failed: eb("failed", "+", 1) }))
    .where("id", "=", bulkReplayId)
    .execute();
}

function suspectsDue(query: Pick<Query, "selectFrom">, now: Date) {
  return query
    .selectFrom(FAILURES)
    .where(SUSPECT)
    .where("next_attempt_at", "<=", now.toISOString())
    .where("state", "=", "waiting")
    .where("lease_owner", "is", null);
}

function retryLease(lease: Lease, isAlone: boolean) {
  return {
    ...leaseOf({ ...lease, isAlone }),
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

function leased(query: Query, key: EventKey, owner: string) {
  return query
    .updateTable(FAILURES)
    .where("event_id", "=", key.eventId)
    .where("source", "=", key.source)
    .where("lease_owner", "=", owner);
}

function triedBy(bulkReplayId: number | undefined): { bulk_replay_id?: number } {
  return bulkReplayId === undefined ? {} : { bulk_replay_id: bulkReplayId };
}
