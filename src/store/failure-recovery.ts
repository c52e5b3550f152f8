import { type Selectable, sql } from "kysely";
import {
  type AttemptInterruption,
  afterInterruption,
  type EventKey,
  type RetryPolicy,
} from "../domain/index.ts";
import { insertAttempt } from "./attempts.ts";
import { isoTime, storableText } from "./column-values.ts";
import { Area, type Database } from "./database.ts";
import { countFailedReplay, NO_FAILURE_LEASE } from "./failure-leases.ts";
import type { StoredFailure } from "./failures.ts";
import { CLOCK_TOLERANCE_MS, cutLeases, ROWS_PER_ROUND } from "./lease.ts";
import type { FailureRow } from "./tables.ts";

/** How leases and schedules are recovered. */
export interface RecoveryOptions {
  readonly now: Date;
  /** How long a lease lives. */
  readonly leaseMs: number;
  readonly policy: RetryPolicy;
}

/** An attempt that the end of its process interrupted, as it was settled. */
export interface InterruptedAttempt extends EventKey {
  readonly kind: "retry" | "replay" | "bulk";
  readonly isAlone: boolean;
  readonly state: StoredFailure["state"];
  readonly crashes: number;
}

const FAILURES = "oncehook_failures";
/** The condition of the index, word for word. */
const LEASED = sql<boolean>`lease_owner IS NOT NULL`;

/** Recovers failures whose process has ended, and schedules of a clock that was set back. */
export class FailureRecovery extends Area {
  /**
   * Settles the attempts whose leases have expired: each counts, and its failure is suspect from then on. A lease or a retry that
   * lies further ahead than the present clock can have set it moves to the latest time it may have.
   */
  async recover(recovery: RecoveryOptions): Promise<InterruptedAttempt[]> {
    const { now, leaseMs } = recovery;
    const settled: InterruptedAttempt[] = [];
    for (const row of await this.expired(now)) {
      const interrupted = await this.settle(row, recovery);
      if (interrupted !== undefined) settled.push(interrupted);
    }
    await cutLeases(this.database, { table: FAILURES, where: LEASED }, leaseMs, now);
    await this.bringRetriesForward(recovery);
    return settled;
  }

  private expired(now: Date): Promise<Selectable<FailureRow>[]> {
    return this.database.read
      .selectFrom(FAILURES)
      .selectAll()
      .where(LEASED)
      .where("leased_until", "<=", now.toISOString())
      .orderBy("leased_until")
      .limit(ROWS_PER_ROUND)
      .execute();
  }

  /** Of several processes that settle one lease, one succeeds. */
  private async settle(
    row: Selectable<FailureRow>,
    { now, policy }: RecoveryOptions,
  ): Promise<InterruptedAttempt | undefined> {
    const kind = row.lease_kind;
    if (kind === null || kind === "removal") {
      // A removal runs no handler.
      await whereLeased(this.database.write, row).set(NO_FAILURE_LEASE).execute();
      return undefined;
    }
    const isAlone = row.lease_alone === 1;
    const crashes = row.crashes + 1;
    const leasedAt = new Date(isoTime(row.leased_at ?? row.last_failed_at));
    const attempt = { kind, isAlone, retriesDone: row.retries_done, crashes, leasedAt };
    const { retriesDone, isGivenUp, nextAttemptAt } = afterInterruption(policy, attempt, now);
    const isExhausted = isGivenUp && kind === "retry";
    const isTried = isGivenUp && kind === "bulk";
    const error = storableText(errorText(row, attempt));
    return this.database.transact(async (query) => {
      const { numUpdatedRows } = await whereLeased(query, row)
        .set({ ...NO_FAILURE_LEASE, crashes, retries_done: retriesDone })
        // Beside others, another event may have ended the process: this one's own error stays.
        .$if(isAlone || kind === "replay", (one) =>
          one.set({ code: "process_ended", error, last_failed_at: now.toISOString() }),
        )
        .$if(isExhausted, (one) => one.set({ state: "exhausted", next_attempt_at: null }))
        .$if(nextAttemptAt !== undefined, (one) =>
          one.set({ next_attempt_at: nextAttemptAt?.toISOString() ?? null }),
        )
        .$if(isTried, (one) => one.set({ bulk_replay_id: row.lease_bulk_id }))
        .executeTakeFirstOrThrow();
      if (numUpdatedRows === 0n) return undefined;
      if (isTried) await countFailedReplay(query, Number(row.lease_bulk_id));
      const key = { source: row.source, eventId: row.event_id };
      const durationMs = Math.max(0, now.getTime() - leasedAt.getTime());
      const ended = {
        startedAt: leasedAt,
        trigger: kind,
        outcome: "process_ended" as const,
        error,
        durationMs,
      };
      await insertAttempt(query, { ...key, ...ended });
      const state = isExhausted ? ("exhausted" as const) : row.state;
      return { ...key, kind, isAlone, state, crashes };
    });
  }

  /** No retry lies further ahead than the delay, unless the clock was set back or the delay shortened since. */
  private async bringRetriesForward({ now, policy }: RecoveryOptions): Promise<void> {
    const due = now.getTime() + policy.delaySeconds * 1_000;
    const far = await this.database.read
      .selectFrom(FAILURES)
      .select("id")
      .where("state", "=", "waiting")
      .where("next_attempt_at", ">", new Date(due + CLOCK_TOLERANCE_MS).toISOString())
      .orderBy("next_attempt_at")
      .limit(ROWS_PER_ROUND)
      .execute();
    if (far.length === 0) return;
    const ids = far.map(({ id }) => id);
    await this.database.write
      .updateTable(FAILURES)
      .set({ next_attempt_at: new Date(due).toISOString() })
      .where("id", "in", ids)
      .where("lease_owner", "is", null)
      .execute();
  }
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
