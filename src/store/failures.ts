import type { Selectable } from "kysely";
import type { EventKey, FaultCode, RetryPolicy } from "../domain/index.ts";
import { isoTime, storableText } from "./column-values.ts";
import type { Database } from "./database.ts";
import type { Lease } from "./lease.ts";
import type { Page, SearchPage, SearchResult } from "./paging.ts";
import type { FailureRow } from "./tables.ts";

/** An event whose attempts have failed, waiting for its retry or for a person. */
export interface StoredFailure extends EventKey {
  readonly id: number;
  readonly eventType: string;
  readonly version: string;
  readonly state: "waiting" | "exhausted";
  /** Every attempt that failed: inline, retries and replays. */
  readonly attempts: number;
  /** Asynchronous retries alone; `RETRY_MAX` bounds these. */
  readonly retriesDone: number;
  readonly code: FaultCode;
  readonly error: string;
  /** The raw body, encrypted. */
  readonly encryptedBody: Uint8Array;
  /** What its record will say of the body. */
  readonly bodySha256: string;
  readonly firstFailedAt: string;
  readonly lastFailedAt: string;
  readonly nextAttemptAt: string | null;
  readonly leasedUntil: string | null;
  /** How many processes ended during its attempts since the last one that came to an end; above 0 it is suspect. */
  readonly crashes: number;
}

/** A lease of one failure; all but a removal count as an attempt when they are taken. */
export interface FailureLease extends Lease {
  /** Default: a replay. */
  readonly kind?: "replay" | "bulk" | "removal";
  /** Whether its process runs no other failure meanwhile. */
  readonly isAlone?: boolean;
  readonly bulkReplayId?: number | undefined;
}

/** How leases and schedules are looked after. */
export interface RecoveryOptions {
  readonly now: Date;
  /** How long a lease lives. */
  readonly leaseMs: number;
  readonly policy: RetryPolicy;
}

/** An attempt whose process ended before it did, as it was settled. */
export interface InterruptedAttempt extends EventKey {
  readonly kind: "retry" | "replay" | "bulk";
  readonly isAlone: boolean;
  readonly state: StoredFailure["state"];
  readonly crashes: number;
}

export interface NewFailure extends EventKey {
  readonly eventType: string;
  readonly version: string;
  readonly code: FaultCode;
  readonly error: string;
  readonly encryptedBody: Uint8Array;
  readonly bodySha256: string;
  /** Null when no retry is allowed: the failure is `exhausted` from the start. */
  readonly nextAttemptAt: Date | null;
}

/** Which failures are meant: those that have all of it. */
export interface FailureFilter {
  readonly state?: StoredFailure["state"];
  readonly source?: string;
  readonly eventType?: string;
  readonly code?: string;
}

export interface FailureStore {
  /** A second failure of the same event counts as an attempt and leaves the retry schedule as it is. */
  record(failure: NewFailure, now: Date): Promise<void>;
  /**
   * The due failures, oldest first, each leased to one owner only, without suspects. The attempt and the retry are counted here
   * already, so that one during which the process ends counts too.
   */
  leaseDue(lease: Lease, limit: number): Promise<StoredFailure[]>;
  /** The due suspect with the fewest process ends, for a process that runs no other failure meanwhile. */
  leaseSuspect(lease: Lease): Promise<StoredFailure | undefined>;
  /** Whether a suspect is due. */
  isSuspectDue(now: Date): Promise<boolean>;
  /** One failure, whatever its state; `leased` when it is leased already, also by a process that has ended. */
  leaseOne(key: EventKey, lease: FailureLease): Promise<StoredFailure | "absent" | "leased">;
  /**
   * Settles the attempts whose leases have expired: each counts, and its failure is suspect from then on. What a clock that was
   * set back has put off for longer than a lease or a retry may take gets the longest time it may.
   */
  recover(recovery: RecoveryOptions): Promise<InterruptedAttempt[]>;
  /** After a leased attempt failed again: it is no suspect any more. `retry` may exhaust it, a replay does not. */
  reschedule(key: EventKey, owner: string, again: FailedAttempt): Promise<void>;
  /**
   * Gives a lease back, and the attempt that it counted; `nextAttemptAt` puts a waiting failure off, so that others come first. `bulkReplayId`: that one is
   * done with it, and counts it as failed in the same transaction.
   */
  release(key: EventKey, owner: string, nextAttemptAt?: Date, bulkReplayId?: number): Promise<void>;
  /** True when there was one. */
  remove(key: EventKey): Promise<boolean>;
  get(key: EventKey): Promise<StoredFailure | undefined>;
  /**
   * A bounded look: what is not found within its time is found when it goes on. With an event's id its failures are found at
   * once.
   */
  search(
    filter: FailureFilter & { readonly eventId?: string },
    search: SearchPage,
  ): Promise<SearchResult<StoredFailure>>;
  /** A page, however long it takes to find. */
  list(page: Page, filter: FailureFilter): Promise<readonly StoredFailure[]>;
  counts(): Promise<Record<StoredFailure["state"], number>>;
  /** When the next retry is due, in ISO 8601; null where none waits. */
  nextAttemptAt(): Promise<string | null>;
  /** How many failures wait for a retry, by event type and version. */
  waitingTypes(): Promise<WaitingType[]>;
}

export interface WaitingType {
  readonly eventType: string;
  readonly version: string;
  readonly count: number;
}

export interface FailedAttempt {
  readonly kind: "retry" | "replay";
  readonly code: FaultCode;
  readonly error: string;
  readonly now: Date;
  /** Null: no further retry, the failure is exhausted. Ignored for a replay. */
  readonly nextAttemptAt: Date | null;
  /** The bulk replay whose replay it was: it is done with this failure, and counts it in the same transaction. */
  readonly bulkReplayId?: number;
}

export function toFailure(row: Selectable<FailureRow>): StoredFailure {
  return {
    id: Number(row.id),
    source: row.source,
    eventId: row.event_id,
    eventType: row.event_type,
    version: row.version,
    state: row.state,
    attempts: row.attempts,
    retriesDone: row.retries_done,
    code: row.code as FaultCode,
    error: row.error,
    encryptedBody: row.sealed_body,
    bodySha256: row.body_sha256,
    firstFailedAt: isoTime(row.first_failed_at),
    lastFailedAt: isoTime(row.last_failed_at),
    nextAttemptAt: row.next_attempt_at === null ? null : isoTime(row.next_attempt_at),
    leasedUntil: row.leased_until === null ? null : isoTime(row.leased_until),
    crashes: row.crashes,
  };
}

const FAILURES = "oncehook_failures";

export async function recordFailure({ write }: Database, failure: NewFailure, now: Date): Promise<void> {
  const at = now.toISOString();
  const latest = { code: failure.code, error: storableText(failure.error), last_failed_at: at };
  await write
    .insertInto(FAILURES)
    .values({
      source: failure.source,
      event_id: failure.eventId,
      event_type: failure.eventType,
      version: failure.version,
      state: failure.nextAttemptAt === null ? "exhausted" : "waiting",
      attempts: 1,
      retries_done: 0,
      sealed_body: failure.encryptedBody,
      body_sha256: failure.bodySha256,
      first_failed_at: at,
      next_attempt_at: failure.nextAttemptAt?.toISOString() ?? null,
      ...latest,
    })
    .onConflict((conflict) =>
      conflict
        .columns(["event_id", "source"])
        .doUpdateSet((eb) => ({ ...latest, attempts: eb(`${FAILURES}.attempts`, "+", 1) })),
    )
    .execute();
}

/**
 * Another delivery may have succeeded since this attempt rolled back: it deleted the failures that it saw, and no later
 * callback would delete this one.
 */
export async function removeIfRecorded({ write }: Database, { source, eventId }: EventKey): Promise<void> {
  await write
    .deleteFrom(FAILURES)
    .where("event_id", "=", eventId)
    .where("source", "=", source)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom("oncehook_records as r")
          .select("r.id")
          .where("r.event_id", "=", eventId)
          .where("r.source", "=", source)
          .where("r.status", "=", "completed"),
      ),
    )
    .execute();
}

export async function removeFailure({ write }: Database, key: EventKey): Promise<boolean> {
  const done = await write
    .deleteFrom(FAILURES)
    .where("event_id", "=", key.eventId)
    .where("source", "=", key.source)
    .executeTakeFirst();
  return Number(done.numDeletedRows) > 0;
}

export async function getFailure({ read }: Database, key: EventKey): Promise<StoredFailure | undefined> {
  const row = await read
    .selectFrom(FAILURES)
    .selectAll()
    .where("event_id", "=", key.eventId)
    .where("source", "=", key.source)
    .executeTakeFirst();
  return row === undefined ? undefined : toFailure(row);
}

export async function countFailures({ read }: Database): Promise<Record<StoredFailure["state"], number>> {
  const rows = await read
    .selectFrom(FAILURES)
    .select((eb) => ["state", eb.fn.countAll().as("count")])
    .groupBy("state")
    .execute();
  const found = new Map(rows.map((row) => [row.state, Number(row.count)]));
  return { waiting: found.get("waiting") ?? 0, exhausted: found.get("exhausted") ?? 0 };
}

export async function nextRetryAt({ read }: Database): Promise<string | null> {
  const row = await read
    .selectFrom(FAILURES)
    .select("next_attempt_at")
    .where("state", "=", "waiting")
    .where("next_attempt_at", "is not", null)
    .orderBy("next_attempt_at")
    .limit(1)
    .executeTakeFirst();
  return row?.next_attempt_at == null ? null : isoTime(row.next_attempt_at);
}

export async function countWaitingByType({ read }: Database): Promise<WaitingType[]> {
  const rows = await read
    .selectFrom(FAILURES)
    .select((eb) => ["event_type", "version", eb.fn.countAll().as("count")])
    .where("state", "=", "waiting")
    .groupBy(["event_type", "version"])
    .orderBy("event_type")
    .orderBy("version")
    .execute();
  return rows.map((row) => ({ eventType: row.event_type, version: row.version, count: Number(row.count) }));
}
