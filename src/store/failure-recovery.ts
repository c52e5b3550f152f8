import { type Selectable, sql } from "kysely";
import { type AttemptInterruption, afterInterruption } from "../domain/index.ts";
import { isoTime, storableText } from "./column-values.ts";
import type { Database } from "./database.ts";
import { NO_LEASE } from "./failure-leases.ts";
import type { InterruptedAttempt, RecoveryOptions } from "./failures.ts";
import { latestPlausibleLeaseEnd } from "./lease.ts";
import type { FailureRow } from "./tables.ts";

const FAILURES = "oncehook_failures";
/** The condition of the index, word for word. */
const LEASED = sql<boolean>`lease_owner IS NOT NULL`;
/** What one recovery looks at; the others wait for the next one. */
const AT_ONCE = 100;
const CLOCK_TOLERANCE_MS = 1_000;

/** `FailureStore.recover`: what becomes of leases whose process has ended, and of a clock that was set back. */
export async function recoverFailures(
  database: Database,
  recovery: RecoveryOptions,
): Promise<InterruptedAttempt[]> {
  const { now, leaseMs } = recovery;
  const settled: InterruptedAttempt[] = [];
  for (const row of await leasesToRecover(database, recovery)) {
    if (isoTime(row.leased_until ?? "") <= now.toISOString()) {
      const cutOff = await settleInterrupted(database, row, recovery);
      if (cutOff !== undefined) settled.push(cutOff);
    } else {
      // The clock was set back: its process may be at work still, for no longer than a lease from now.
      const until = new Date(now.getTime() + leaseMs).toISOString();
      await whereLeased(database.write, row).set({ leased_until: until }).execute();
    }
  }
  await bringForward(database, recovery);
  return settled;
}

/** Leases that have expired, and those that last longer than any may. */
async function leasesToRecover(
  { read }: Database,
  { now, leaseMs }: RecoveryOptions,
): Promise<Selectable<FailureRow>[]> {
  const latest = latestPlausibleLeaseEnd(now, leaseMs).toISOString();
  return read
    .selectFrom(FAILURES)
    .selectAll()
    .where(LEASED)
    .where((eb) => eb.or([eb("leased_until", "<=", now.toISOString()), eb("leased_until", ">", latest)]))
    .orderBy("leased_until")
    .limit(AT_ONCE)
    .execute();
}

/** Of all processes that settle a lease one does. */
async function settleInterrupted(
  { write, transact }: Database,
  row: Selectable<FailureRow>,
  { now, policy }: RecoveryOptions,
): Promise<InterruptedAttempt | undefined> {
  const kind = row.lease_kind;
  if (kind === null || kind === "removal") {
    // A removal runs no handler; an older version counts an attempt when it has ended.
    await whereLeased(write, row).set(NO_LEASE).execute();
    return undefined;
  }
  const isAlone = row.lease_alone === 1;
  const crashes = row.crashes + 1;
  const leasedAt = new Date(isoTime(row.leased_at ?? row.last_failed_at));
  const attempt = { kind, isAlone, retriesDone: row.retries_done, crashes, leasedAt };
  const { retriesDone, isGivenUp, nextAttemptAt } = afterInterruption(policy, attempt, now);
  const isExhausted = isGivenUp && kind === "retry";
  const error = storableText(errorText(row, attempt));
  return transact(async (query) => {
    const { numUpdatedRows } = await whereLeased(query, row)
      .set({ ...NO_LEASE, crashes, retries_done: retriesDone })
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
    return { source, eventId: event_id, kind, isAlone, state, crashes };
  });
}

function whereLeased(query: Database["write"], { id, lease_owner, leased_until }: Selectable<FailureRow>) {
  return query
    .updateTable(FAILURES)
    .where("id", "=", id)
    .where("lease_owner", "=", lease_owner)
    .where("leased_until", "=", leased_until);
}

const EARLIER_ERROR = "\nbefore that: ";

function errorText(row: Selectable<FailureRow>, { isAlone, crashes }: AttemptInterruption): string {
  const tail = row.error.lastIndexOf(EARLIER_ERROR);
  const earlier = row.code !== "process_ended" ? `${EARLIER_ERROR}${row.code}: ${row.error}` : "";
  const before = row.code === "process_ended" && tail >= 0 ? row.error.slice(tail) : earlier;
  const beside = isAlone ? "which ran alone" : "which may have run beside others";
  return (
    `The process ended during this attempt, ${beside}, or could not store how it ended; such attempts in a row: ` +
    `${crashes}. ` +
    "Look in the handler for an exit of the process, an error thrown outside its promise, an endless loop or large allocations, " +
    `and in the log for a kill from outside.${before}`
  );
}

/** No retry is further away than the delay, unless the clock was set back since, or the delay was longer then. */
async function bringForward({ read, write }: Database, { now, policy }: RecoveryOptions): Promise<void> {
  const due = now.getTime() + policy.delaySeconds * 1_000;
  const far = await read
    .selectFrom(FAILURES)
    .select("id")
    .where("state", "=", "waiting")
    .where("next_attempt_at", ">", new Date(due + CLOCK_TOLERANCE_MS).toISOString())
    .orderBy("next_attempt_at")
    .limit(AT_ONCE)
    .execute();
  if (far.length === 0) return;
  await write
    .updateTable(FAILURES)
    .set({ next_attempt_at: new Date(due).toISOString() })
    .where(
      "id",
      "in",
      far.map(({ id }) => id),
    )
    .where("lease_owner", "is", null)
    .execute();
}
