import { type RawBuilder, sql } from "kysely";
import {
  type AttemptInterruption,
  afterInterruption,
  type EventKey,
  type FailureState,
  type FaultCode,
  type RetryPolicy,
} from "../../domain/index.ts";
import {
  Area,
  assign,
  equal,
  type IdRow,
  idIn,
  idsOf,
  type Query,
  run,
  storableText,
  type Values,
} from "../database.ts";
import { type AttemptTrigger, insertAttempt } from "./attempts.ts";
import { byDueTime, FAILURE_COLUMNS, removeIfRecorded, type StoredFailure } from "./failures.ts";
import { CLOCK_TOLERANCE_MS, cutLeases, type Lease, ROWS_PER_ROUND, takeLease } from "./lease.ts";
import { failureProblemId } from "./problem-id.ts";

/** A lease of one failure; taking it counts as an attempt, except for a removal. */
export interface FailureLease extends Lease {
  /** Default: a replay. */
  readonly kind?: "replay" | "bulk" | "removal";
  /** Whether its process runs no other failure during it. */
  readonly isAlone?: boolean;
  readonly bulkReplayId?: number | undefined;
}

export interface FailedAttempt {
  readonly kind: "accepted" | "retry" | "replay";
  readonly code: FaultCode;
  readonly error: string;
  readonly now: Date;
  /** Null: no further retry, the failure is exhausted or rejected. Ignored for a replay. */
  readonly nextAttemptAt: Date | null;
  readonly isRejected?: boolean;
  /** The bulk replay that made the attempt; it counts the failure in the same transaction. */
  readonly bulkReplayId?: number | undefined;
}

export interface RecoveryOptions {
  readonly now: Date;
  readonly leaseMs: number;
  /** No retry of any source lies further ahead. */
  readonly longestDelayMs: number;
  readonly policyOf: (failure: Pick<StoredFailure, "source" | "version" | "eventType">) => RetryPolicy;
  /** Draws from 0 up to 1. */
  readonly chance: () => number;
}

/** An attempt that the end of its process interrupted, as it was settled. */
export interface InterruptedAttempt extends EventKey, Pick<StoredFailure, "state" | "crashes"> {
  readonly kind: AttemptTrigger;
  readonly isAlone: boolean;
}

interface LeasedFailure extends StoredFailure {
  readonly leaseOwner: string;
  readonly leasedUntil: string;
  readonly leasedAt: string | null;
  readonly leaseKind: AttemptTrigger | "removal" | null;
  readonly leaseAlone: 0 | 1;
  readonly leaseBulkId: number | null;
}

/** The condition of the index, word for word. */
const LEASED = sql`lease_owner IS NOT NULL`;

const NO_FAILURE_LEASE = sql`lease_owner = NULL, leased_until = NULL, leased_at = NULL, lease_kind = NULL,
  lease_alone = 0, lease_bulk_id = NULL`;

/** Takes back the attempts that a lease has counted. */
const UNCOUNTED = sql`attempts = attempts - CASE WHEN lease_kind IN ('accepted', 'retry', 'replay', 'bulk') THEN 1 ELSE 0 END,
  retries_done = retries_done - CASE WHEN lease_kind = 'retry' THEN 1 ELSE 0 END`;

/** Retries, or the first attempts of accepted events. */
export type DueState = Extract<FailureState, "accepted" | "waiting">;

/** So many rows of a source are read to find those whose keys are free. The rows of one busy key may be far more. */
const READ_AHEAD = 1_000;

/** `crashes > 0` is the condition of the index, word for word. */
const suspectDue = (now: Date) =>
  sql`crashes > 0 AND next_attempt_at <= ${now} AND state = 'waiting' AND lease_owner IS NULL`;

/** The leases of failures for retries, replays and removals, and their recovery after a process has ended. */
export class FailureLeases extends Area {
  /** The sources, with their tenants, that have due rows: `limit` of them, in their order after `after`. */
  async dueSources(state: DueState, after: string, now: Date, limit: number): Promise<readonly string[]> {
    const inState = sql`FROM oncehook_failures WHERE state = ${sql.lit(state)}`;
    const isDue = sql`next_attempt_at <= ${now} AND lease_owner IS NULL`;
    // Each step finds the next source in the index: one with many rows costs as much as one with few. At the end,
    // PostgreSQL would join all rows for an EXISTS.
    const next = (last: unknown) => sql`(SELECT source ${inState} AND source > ${last} ORDER BY source LIMIT 1)`;
    const rows = await this.read<{ source: string }>`WITH RECURSIVE sources (name) AS (
        SELECT ${next(after)} WHERE EXISTS (SELECT 1 ${inState} AND ${isDue})
        UNION ALL SELECT ${next(sql`sources.name`)} FROM sources WHERE name IS NOT NULL)
      SELECT name AS source FROM sources
      WHERE name IS NOT NULL AND (SELECT 1 ${inState} AND source = sources.name AND ${isDue} ORDER BY next_attempt_at LIMIT 1) = 1
      LIMIT ${sql.lit(limit)}`;
    return rows.map(({ source }) => source);
  }

  /**
   * Leases due rows of one source and tenant, oldest first, each to one owner only, without suspects. The lease counts the
   * attempt, and a retry: an attempt during which the process ends counts too. Of those with one `orderBy` only the first
   * may run, and none while that one is leased.
   */
  leaseDue(lease: Lease, { state, source, limit }: { state: DueState; source: string; limit: number }) {
    const isDue = sql`state = ${sql.lit(state)} AND source = ${source} AND next_attempt_at <= ${lease.now}`;
    const due = sql`${isDue} AND lease_owner IS NULL ${state === "waiting" ? sql`AND crashes = 0` : sql``}
      AND next_attempt_at <= COALESCE((SELECT next_attempt_at FROM oncehook_failures WHERE ${isDue}
        ORDER BY next_attempt_at LIMIT 1 OFFSET ${sql.lit(READ_AHEAD)}), ${lease.now})
      AND (order_key = '' OR id = (SELECT first.id FROM oncehook_failures first WHERE first.source = ${source}
        AND first.order_key = oncehook_failures.order_key AND first.order_key <> '' AND first.state = ${sql.lit(state)}
        ORDER BY first.next_attempt_at, first.id LIMIT 1)) ORDER BY next_attempt_at, id LIMIT ${limit}`;
    return this.leaseNext(lease, state === "waiting" ? "retry" : "accepted", due);
  }

  /** Leases the due suspect with the fewest process ends, for a process that runs no other failure meanwhile. */
  async leaseSuspect(lease: Lease): Promise<StoredFailure | undefined> {
    const due = sql`${suspectDue(lease.now)} ORDER BY crashes, next_attempt_at LIMIT 1`;
    const [failure] = await this.leaseNext({ ...lease, isAlone: true }, "retry", due);
    return failure;
  }

  async isSuspectDue(now: Date): Promise<boolean> {
    return (await this.read`SELECT id FROM oncehook_failures WHERE ${suspectDue(now)} LIMIT 1`).length > 0;
  }

  private leaseNext(lease: FailureLease, kind: "accepted" | "retry", due: RawBuilder<unknown>) {
    const counted = sql`attempts = attempts + 1, retries_done = retries_done + ${sql.lit(kind === "retry" ? 1 : 0)}`;
    const take = sql`WITH due AS (SELECT id FROM oncehook_failures WHERE ${due} ${this.skipLocked})
      UPDATE oncehook_failures SET ${leaseOf(lease, kind)}, ${counted}
      WHERE id IN (SELECT id FROM due) RETURNING ${FAILURE_COLUMNS}`;
    return this.lease(lease, take);
  }

  private async lease({ owner }: FailureLease, statement: RawBuilder<unknown>): Promise<StoredFailure[]> {
    const take = () => run<StoredFailure>(this.database.write, statement);
    const release = () => this.write`UPDATE oncehook_failures SET ${UNCOUNTED}, ${NO_FAILURE_LEASE}
      WHERE ${LEASED} AND lease_owner = ${owner}`;
    return (await takeLease(this.database, take, release)).rows.toSorted(byDueTime);
  }

  /** Leases one failure, whatever its state; `leased` when it has a lease already, even one of a process that has ended. */
  async leaseOne({ source, eventId }: EventKey, lease: FailureLease): Promise<StoredFailure | "absent" | "leased"> {
    const { kind = "replay" } = lease;
    const ofEvent = equal({ eventId, source });
    const take = sql`UPDATE oncehook_failures
      SET ${leaseOf(lease, kind)}, attempts = attempts + ${sql.lit(kind === "removal" ? 0 : 1)}
      WHERE ${ofEvent} AND lease_owner IS NULL RETURNING ${FAILURE_COLUMNS}`;
    const [leased] = await this.lease(lease, take);
    if (leased !== undefined) return leased;
    const there = await this.read`SELECT id FROM oncehook_failures WHERE ${ofEvent}`;
    return there.length === 0 ? "absent" : "leased";
  }

  /** After a leased attempt failed again; the failure is no longer suspect. A replay exhausts only what was rejected. */
  async reschedule(key: EventKey & { eventType?: string }, owner: string, again: FailedAttempt): Promise<void> {
    const { code, now, nextAttemptAt, bulkReplayId } = again;
    const cause = { code, error: storableText(again.error) };
    const problemId =
      key.eventType === undefined ? "" : failureProblemId({ ...key, eventType: key.eventType, ...cause });
    const failed = { ...cause, problemId, lastFailedAt: now, crashes: 0 };
    const state = again.isRejected ? "rejected" : nextAttemptAt === null ? "exhausted" : "waiting";
    const isReplay = again.kind === "replay" && !again.isRejected;
    const replayed = sql`state = CASE state WHEN 'rejected' THEN 'exhausted' ELSE state END`;
    const changed = isReplay ? replayed : assign({ nextAttemptAt, state });
    await this.end(key, owner, bulkReplayId, [assign(failed), changed]);
    await removeIfRecorded(this.database, key);
  }

  /**
   * Releases a lease and takes back the attempt that it counted; a suspect stays one. `nextAttemptAt` defers a waiting failure, so
   * that others come first. `bulkReplayId` counts it as failed by that bulk replay, in the same transaction.
   */
  async release(key: EventKey, owner: string, nextAttemptAt?: Date, bulkReplayId?: number): Promise<void> {
    const deferred = nextAttemptAt === undefined ? [] : [assign({ nextAttemptAt })];
    await this.end(key, owner, bulkReplayId, [UNCOUNTED, ...deferred]);
  }

  /** A bulk replay counts a failure in the transaction that changes it, so that it counts once, whatever process ends. */
  private async end(
    { source, eventId }: EventKey,
    owner: string,
    bulkReplayId: number | undefined,
    changes: readonly RawBuilder<unknown>[],
  ): Promise<void> {
    const triedBy = bulkReplayId === undefined ? [] : [assign({ bulkReplayId })];
    const change = sql`UPDATE oncehook_failures SET ${sql.join([...changes, ...triedBy, NO_FAILURE_LEASE])}
      WHERE ${equal({ eventId, source, leaseOwner: owner })}`;
    await this.database.transact(async (query) => {
      const { changes } = await run(query, change);
      if (changes > 0 && bulkReplayId !== undefined) await countFailedReplay(query, bulkReplayId);
    });
  }

  /**
   * Settles the attempts whose leases have expired. An attempt counts, and its failure is suspect from then on. A
   * removal counts nothing, and nor does the run of `within` in its callback. A lease or a retry further ahead than the clock can have set it moves to its latest time.
   */
  async recover(recovery: RecoveryOptions): Promise<InterruptedAttempt[]> {
    const { now, leaseMs, longestDelayMs } = recovery;
    const ended: InterruptedAttempt[] = [];
    const expired = await this
      .read<LeasedFailure>`SELECT ${FAILURE_COLUMNS}, lease_owner, leased_at, lease_kind, lease_alone, lease_bulk_id
      FROM oncehook_failures WHERE ${LEASED} AND leased_until <= ${now}
      ORDER BY leased_until LIMIT ${sql.lit(ROWS_PER_ROUND)}`;
    for (const row of expired) {
      const interrupted = await this.settleInterrupted(row, recovery);
      if (interrupted !== undefined) ended.push(interrupted);
    }
    await cutLeases(this.database, { table: "oncehook_failures", where: LEASED }, leaseMs, now);
    // No retry lies further ahead than the longest delay, and no accepted event further than the lease of its callback. Only a
    // clock that was set back, or a shortened setting, causes that.
    await this.bringForward("waiting", now.getTime() + longestDelayMs);
    await this.bringForward("accepted", now.getTime() + leaseMs);
    return ended;
  }

  /** Of several processes that settle one lease, one succeeds. */
  private async settleInterrupted(row: LeasedFailure, { now, policyOf, chance }: RecoveryOptions) {
    const { id, source, eventId, leaseKind: kind, leaseOwner, leasedUntil, leaseBulkId } = row;
    const change = (...changes: RawBuilder<unknown>[]) => sql`UPDATE oncehook_failures
      SET ${sql.join([NO_FAILURE_LEASE, ...changes])} WHERE ${equal({ id, leaseOwner, leasedUntil })}`;
    if (kind === null || kind === "removal") {
      await run(this.database.write, change());
      return undefined;
    }
    const isAlone = row.leaseAlone === 1;
    const crashes = row.crashes + 1;
    const leasedAt = new Date(row.leasedAt ?? row.lastFailedAt);
    const attempt = { kind, isAlone, retriesDone: row.retriesDone, crashes, leasedAt };
    const after = afterInterruption(policyOf(row), attempt, now, chance());
    const { retriesDone, isGivenUp, nextAttemptAt, staysAccepted } = after;
    const isExhausted = isGivenUp && (kind === "retry" || kind === "accepted");
    const isTried = isGivenUp && kind === "bulk";
    const error = storableText(endedProcessText(row, attempt));
    const changes: Values & { readonly state?: FailureState } = {
      crashes,
      retriesDone,
      // Beside others, another event may have ended the process: this one's own error stays.
      ...(isAlone || kind === "replay" ? { code: "process_ended", error, lastFailedAt: now, problemId: "" } : {}),
      ...(row.state === "accepted" && !staysAccepted ? { state: "waiting" } : {}),
      ...(isExhausted ? { state: "exhausted", nextAttemptAt: null } : {}),
      ...(nextAttemptAt === undefined ? {} : { nextAttemptAt }),
      ...(isTried ? { bulkReplayId: leaseBulkId } : {}),
    };
    const state = changes.state ?? row.state;
    return this.database.transact(async (query) => {
      if ((await run(query, change(assign(changes)))).changes === 0) return undefined;
      if (isTried) await countFailedReplay(query, Number(leaseBulkId));
      const durationMs = Math.max(0, now.getTime() - leasedAt.getTime());
      const ended = { trigger: kind, outcome: "process_ended", error, durationMs } as const;
      await insertAttempt(query, { source, eventId, startedAt: leasedAt, ...ended });
      return { source, eventId, kind, isAlone, state, crashes };
    });
  }

  private async bringForward(state: FailureState, due: number): Promise<void> {
    const far = await this.read<IdRow>`SELECT id FROM oncehook_failures
      WHERE state = ${state} AND next_attempt_at > ${new Date(due + CLOCK_TOLERANCE_MS)}
      ORDER BY next_attempt_at LIMIT ${sql.lit(ROWS_PER_ROUND)}`;
    if (far.length === 0) return;
    await this.write`UPDATE oncehook_failures SET next_attempt_at = ${new Date(due)}
      WHERE ${idIn(this.database.dialect, idsOf(far))} AND lease_owner IS NULL`;
  }
}

async function countFailedReplay(query: Query, bulkReplayId: number): Promise<void> {
  await run(query, sql`UPDATE oncehook_bulk_replays SET failed = failed + 1 WHERE id = ${bulkReplayId}`);
}

function leaseOf({ owner, now, until, isAlone = false, bulkReplayId }: FailureLease, leaseKind: string) {
  return sql`lease_owner = ${owner}, leased_until = ${until}, leased_at = ${now}, lease_kind = ${leaseKind},
    lease_alone = ${isAlone ? 1 : 0}, lease_bulk_id = ${bulkReplayId}`;
}

const EARLIER_ERROR = "\nbefore that: ";

function endedProcessText(row: LeasedFailure, { isAlone, crashes }: AttemptInterruption): string {
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
