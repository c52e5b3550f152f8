import { type RawBuilder, sql } from "kysely";
import {
  type AttemptInterruption,
  afterInterruption,
  type EventKey,
  type RetryPolicy,
} from "../domain/index.ts";
import { insertAttempt } from "./attempts.ts";
import { storableText } from "./column-values.ts";
import { Area, assign, equal, run, type Values } from "./database.ts";
import { countFailedReplay, NO_FAILURE_LEASE } from "./failure-leases.ts";
import type { StoredFailure } from "./failures.ts";
import { CLOCK_TOLERANCE_MS, cutLeases, ROWS_PER_ROUND } from "./lease.ts";

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

/** A failure with its lease. */
interface LeasedFailure extends EventKey {
  readonly id: number;
  readonly state: StoredFailure["state"];
  readonly code: string;
  readonly error: string;
  readonly retriesDone: number;
  readonly crashes: number;
  readonly lastFailedAt: string;
  readonly leaseOwner: string;
  readonly leasedUntil: string;
  readonly leasedAt: string | null;
  readonly leaseKind: InterruptedAttempt["kind"] | "removal" | null;
  readonly leaseAlone: 0 | 1;
  readonly leaseBulkId: number | null;
}

/** The condition of the index, word for word. */
const LEASED = sql`lease_owner IS NOT NULL`;

/** Recovers failures whose process has ended, and schedules of a clock that was set back. */
export class FailureRecovery extends Area {
  /**
   * Settles the attempts whose leases have expired: each counts, and its failure is suspect from then on. A lease or a retry that
   * lies further ahead than the present clock can have set it moves to the latest time it may have.
   */
  async recover(recovery: RecoveryOptions): Promise<InterruptedAttempt[]> {
    const { now, leaseMs } = recovery;
    const settled: InterruptedAttempt[] = [];
    const expired = await this
      .read<LeasedFailure>`SELECT id, source, event_id, state, code, error, retries_done, crashes,
        last_failed_at, lease_owner, leased_until, leased_at, lease_kind, lease_alone, lease_bulk_id
      FROM oncehook_failures WHERE ${LEASED} AND leased_until <= ${now}
      ORDER BY leased_until LIMIT ${sql.lit(ROWS_PER_ROUND)}`;
    for (const row of expired) {
      const interrupted = await this.settle(row, recovery);
      if (interrupted !== undefined) settled.push(interrupted);
    }
    await cutLeases(this.database, { table: "oncehook_failures", where: LEASED }, leaseMs, now);
    await this.bringRetriesForward(recovery);
    return settled;
  }

  /** Of several processes that settle one lease, one succeeds. */
  private async settle(
    row: LeasedFailure,
    { now, policy }: RecoveryOptions,
  ): Promise<InterruptedAttempt | undefined> {
    const { id, source, eventId, leaseKind: kind, leaseOwner, leasedUntil, leaseBulkId } = row;
    const change = (...changes: RawBuilder<unknown>[]) => sql`UPDATE oncehook_failures
      SET ${sql.join([NO_FAILURE_LEASE, ...changes])} WHERE ${equal({ id, leaseOwner, leasedUntil })}`;
    if (kind === null || kind === "removal") {
      // A removal runs no handler.
      await run(this.database.write, change());
      return undefined;
    }
    const isAlone = row.leaseAlone === 1;
    const crashes = row.crashes + 1;
    const leasedAt = new Date(row.leasedAt ?? row.lastFailedAt);
    const attempt = { kind, isAlone, retriesDone: row.retriesDone, crashes, leasedAt };
    const { retriesDone, isGivenUp, nextAttemptAt } = afterInterruption(policy, attempt, now);
    const isExhausted = isGivenUp && kind === "retry";
    const isTried = isGivenUp && kind === "bulk";
    const error = storableText(errorText(row, attempt));
    const changes: Values = {
      crashes,
      retriesDone,
      // Beside others, another event may have ended the process: this one's own error stays.
      ...(isAlone || kind === "replay" ? { code: "process_ended", error, lastFailedAt: now } : {}),
      ...(isExhausted ? { state: "exhausted", nextAttemptAt: null } : {}),
      ...(nextAttemptAt === undefined ? {} : { nextAttemptAt }),
      ...(isTried ? { bulkReplayId: leaseBulkId } : {}),
    };
    return this.database.transact(async (query) => {
      if ((await run(query, change(assign(changes)))).changes === 0) return undefined;
      if (isTried) await countFailedReplay(query, Number(leaseBulkId));
      const durationMs = Math.max(0, now.getTime() - leasedAt.getTime());
      const ended = { trigger: kind, outcome: "process_ended", error, durationMs } as const;
      await insertAttempt(query, { source, eventId, startedAt: leasedAt, ...ended });
      return { source, eventId, kind, isAlone, state: isExhausted ? "exhausted" : row.state, crashes };
    });
  }

  /** No retry lies further ahead than the delay, unless the clock was set back or the delay shortened since. */
  private async bringRetriesForward({ now, policy }: RecoveryOptions): Promise<void> {
    const due = now.getTime() + policy.delaySeconds * 1_000;
    const far = await this.read<{ id: number }>`SELECT id FROM oncehook_failures
      WHERE state = 'waiting' AND next_attempt_at > ${new Date(due + CLOCK_TOLERANCE_MS)}
      ORDER BY next_attempt_at LIMIT ${sql.lit(ROWS_PER_ROUND)}`;
    if (far.length === 0) return;
    const ids = sql.join(far.map(({ id }) => id));
    await this.write`UPDATE oncehook_failures SET next_attempt_at = ${new Date(due)}
      WHERE id IN (${ids}) AND lease_owner IS NULL`;
  }
}

const EARLIER_ERROR = "\nbefore that: ";

function errorText(row: LeasedFailure, { isAlone, crashes }: AttemptInterruption): string {
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
