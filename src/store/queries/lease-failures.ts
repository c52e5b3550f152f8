import { sql } from "kysely";
import type { EventKey } from "../../domain/index.ts";
import type { FailureLease, FailureStore, Lease, StoredFailure } from "../store.ts";
import type { Access } from "./access.ts";
import { toFailure } from "./rows.ts";

const TABLE = "oncehook_failures";
/** The condition of the index, word for word. */
const SUSPECT = sql<boolean>`unclean_ends > 0`;

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
export function leaseQueries(access: Access): Leasing {
  return {
    leaseDue: (lease, limit) => leaseDue(access, lease, limit),
    leaseSuspect: (lease) => leaseSuspect(access, lease),
    isSuspectDue: (now) => isSuspectDue(access, now),
    leaseOne: (key, lease) => leaseOne(access, key, lease),
  };
}

async function leaseDue({ write, dialect }: Access, lease: Lease, limit: number): Promise<StoredFailure[]> {
  const rows = await write
    .with("due", (db) => {
      const due = db
        .selectFrom(TABLE)
        .select("id")
        .where("state", "=", "waiting")
        .where("next_attempt_at", "<=", lease.now.toISOString())
        .where("lease_owner", "is", null)
        .where("unclean_ends", "=", 0)
        .orderBy("next_attempt_at")
        .limit(limit);
      // Many processes share the due rows without waiting for each other; SQLite has one writer anyway.
      return dialect === "postgres" ? due.forUpdate().skipLocked() : due;
    })
    .updateTable(TABLE)
    .set(retryLease(lease, 0))
    .where("id", "in", (eb) => eb.selectFrom("due").select("due.id"))
    .returningAll()
    .execute();
  return rows.map(toFailure).sort((a, b) => (a.nextAttemptAt ?? "").localeCompare(b.nextAttemptAt ?? ""));
}

async function leaseSuspect({ write, dialect }: Access, lease: Lease): Promise<StoredFailure | undefined> {
  const row = await write
    .with("due", (db) => {
      const due = suspectsDue(db, lease.now)
        .select("id")
        .orderBy("unclean_ends")
        .orderBy("next_attempt_at")
        .limit(1);
      return dialect === "postgres" ? due.forUpdate().skipLocked() : due;
    })
    .updateTable(TABLE)
    .set(retryLease(lease, 1))
    .where("id", "in", (eb) => eb.selectFrom("due").select("due.id"))
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? undefined : toFailure(row);
}

async function isSuspectDue({ read }: Access, now: Date): Promise<boolean> {
  return (await suspectsDue(read, now).select("id").limit(1).executeTakeFirst()) !== undefined;
}

function suspectsDue(query: Pick<Access["read"], "selectFrom">, now: Date) {
  return query
    .selectFrom(TABLE)
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
  { write, read }: Access,
  key: EventKey,
  lease: FailureLease,
): Promise<StoredFailure | "absent" | "leased"> {
  const { kind = "replay" } = lease;
  const row = await write
    .updateTable(TABLE)
    .set({ ...leaseOf(lease), lease_kind: kind })
    .$if(kind !== "removal", (query) => query.set({ attempts: sql<number>`attempts + 1` }))
    .where("event_id", "=", key.eventId)
    .where("source", "=", key.source)
    .where("lease_owner", "is", null)
    .returningAll()
    .executeTakeFirst();
  if (row !== undefined) return toFailure(row);
  const there = await read
    .selectFrom(TABLE)
    .select("id")
    .where("event_id", "=", key.eventId)
    .where("source", "=", key.source)
    .executeTakeFirst();
  return there === undefined ? "absent" : "leased";
}
