import { type Selectable, sql } from "kysely";
import { afterCutOff, type CutOffAttempt, type EventKey } from "../../domain/index.ts";
import type { CutOff, FailureLease, FailureStore, Lease, Recovery, StoredFailure } from "../store.ts";
import type { FailureRow } from "../tables.ts";
import type { Access } from "./access.ts";
import { isoTime, storableText, toFailure } from "./rows.ts";
import { latestBelievable } from "./unleased.ts";

const TABLE = "oncehook_failures";
/** The conditions of the partial indexes, word for word. */
const LEASED = sql<boolean>`lease_owner IS NOT NULL`;
const SUSPECT = sql<boolean>`unclean_ends > 0`;
/** What one recovery looks at; the others wait for the next one. */
const AT_ONCE = 100;
const CLOCK_TOLERANCE_MS = 1_000;

export const NO_LEASE = {
  lease_owner: null,
  leased_until: null,
  leased_at: null,
  lease_kind: null,
  lease_alone: 0,
  lease_bulk_id: null,
} as const;

type Leasing = Pick<FailureStore, "leaseDue" | "leaseSuspect" | "isSuspectDue" | "leaseOne" | "recover">;

/** Who runs a failure, and what becomes of a lease whose process has ended. */
export function leaseQueries(access: Access): Leasing {
  return {
    leaseDue: (lease, limit) => leaseDue(access, lease, limit),
    leaseSuspect: (lease) => leaseSuspect(access, lease),
    isSuspectDue: (now) => isSuspectDue(access, now),
    leaseOne: (key, lease) => leaseOne(access, key, lease),
    recover: (recovery) => recover(access, recovery),
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

async function recover(access: Access, recovery: Recovery): Promise<CutOff[]> {
  const { now, leaseMs } = recovery;
  const settled: CutOff[] = [];
  for (const row of await leftLeases(access, recovery)) {
    if (isoTime(row.leased_until ?? "") <= now.toISOString()) {
      const cutOff = await settle(access, row, recovery);
      if (cutOff !== undefined) settled.push(cutOff);
    } else {
      // The clock was set back: its process may be at work still, for no longer than a lease from now.
      const until = new Date(now.getTime() + leaseMs).toISOString();
      await ofLease(access.write, row).set({ leased_until: until }).execute();
    }
  }
  await bringForward(access, recovery);
  return settled;
}

/** Leases that have expired, and those that last longer than any may. */
async function leftLeases({ read }: Access, { now, leaseMs }: Recovery): Promise<Selectable<FailureRow>[]> {
  const latest = latestBelievable(now, leaseMs).toISOString();
  return read
    .selectFrom(TABLE)
    .selectAll()
    .where(LEASED)
    .where((eb) => eb.or([eb("leased_until", "<=", now.toISOString()), eb("leased_until", ">", latest)]))
    .orderBy("leased_until")
    .limit(AT_ONCE)
    .execute();
}

/** Of all processes that settle a lease one does. */
async function settle(
  { write, transact }: Access,
  row: Selectable<FailureRow>,
  { now, policy }: Recovery,
): Promise<CutOff | undefined> {
  const kind = row.lease_kind;
  if (kind === null || kind === "removal") {
    // A removal runs no handler; an older version counts an attempt when it has ended.
    await ofLease(write, row).set(NO_LEASE).execute();
    return undefined;
  }
  const isAlone = row.lease_alone === 1;
  const uncleanEnds = row.unclean_ends + 1;
  const leasedAt = new Date(isoTime(row.leased_at ?? row.last_failed_at));
  const attempt = { kind, isAlone, retriesDone: row.retries_done, uncleanEnds, leasedAt };
  const { retriesDone, isGivenUp, nextAttemptAt } = afterCutOff(policy, attempt, now);
  const isExhausted = isGivenUp && kind === "retry";
  const error = storableText(errorText(row, attempt));
  return transact(async (query) => {
    const { numUpdatedRows } = await ofLease(query, row)
      .set({ ...NO_LEASE, unclean_ends: uncleanEnds, retries_done: retriesDone })
      // Beside others it may have been another event that ended the process: what is known of this one stays.
      .$if(isAlone || kind === "replay", (one) =>
        one.set({ code: "process_ended", error, last_failed_at: now.toISOString() }),
      )
      .$if(isExhausted, (one) => one.set({ state: "exhausted", next_attempt_at: null }))
      .$if(nextAttemptAt !== undefined, (one) =>
        one.set({ next_attempt_at: nextAttemptAt?.toISOString() ?? null }),
      )
      .$if(isGivenUp && kind === "bulk", (one) => one.set({ bulk_replay_id: row.lease_bulk_id }))
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n) return undefined;
    if (isGivenUp && kind === "bulk") {
      await query
        .updateTable("oncehook_bulk_replays")
        .set((eb) => ({ failed: eb("failed", "+", 1) }))
        .where("id", "=", row.lease_bulk_id)
        .execute();
    }
    const { source, event_id } = row;
    const ended = { began_at: leasedAt.toISOString(), made_by: kind, outcome: "process_ended", error };
    const tookMs = Math.max(0, now.getTime() - leasedAt.getTime());
    await query
      .insertInto("oncehook_attempts")
      .values({ source, event_id, ...ended, took_ms: tookMs })
      .execute();
    const state = isExhausted ? ("exhausted" as const) : row.state;
    return { source, eventId: event_id, kind, isAlone, state, uncleanEnds };
  });
}

function ofLease(query: Access["write"], { id, lease_owner, leased_until }: Selectable<FailureRow>) {
  return query
    .updateTable(TABLE)
    .where("id", "=", id)
    .where("lease_owner", "=", lease_owner)
    .where("leased_until", "=", leased_until);
}

const BEFORE = "\nbefore that: ";

function errorText(row: Selectable<FailureRow>, { isAlone, uncleanEnds }: CutOffAttempt): string {
  const tail = row.error.lastIndexOf(BEFORE);
  const earlier = row.code !== "process_ended" ? `${BEFORE}${row.code}: ${row.error}` : "";
  const before = row.code === "process_ended" && tail >= 0 ? row.error.slice(tail) : earlier;
  const beside = isAlone ? "which ran alone" : "which may have run beside others";
  return (
    `The process ended during this attempt, ${beside}, or could not store how it ended; such attempts in a row: ` +
    `${uncleanEnds}. ` +
    "Look in the handler for process.exit, an error thrown outside its promise, an endless loop or large allocations, " +
    `and in the log for a kill from outside.${before}`
  );
}

/** No retry is further away than the delay, unless the clock was set back since, or the delay was longer then. */
async function bringForward({ read, write }: Access, { now, policy }: Recovery): Promise<void> {
  const due = now.getTime() + policy.delaySeconds * 1_000;
  const far = await read
    .selectFrom(TABLE)
    .select("id")
    .where("state", "=", "waiting")
    .where("next_attempt_at", ">", new Date(due + CLOCK_TOLERANCE_MS).toISOString())
    .orderBy("next_attempt_at")
    .limit(AT_ONCE)
    .execute();
  if (far.length === 0) return;
  await write
    .updateTable(TABLE)
    .set({ next_attempt_at: new Date(due).toISOString() })
    .where(
      "id",
      "in",
      far.map(({ id }) => id),
    )
    .where("lease_owner", "is", null)
    .execute();
}
