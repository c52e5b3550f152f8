import { type RawBuilder, sql } from "kysely";
import { type EventKey, FAILURE_STATES, type FailureState, type FaultCode } from "../../domain/index.ts";
import { type Database, equal, type IdRow, idIn, idsOf, insert, run, storableText } from "../database.ts";
import { type NewBlock, type OriginalKeeper, pauseAfterError } from "../original-keeper.ts";
import type { Lease } from "./lease.ts";
import { insertOriginal } from "./originals.ts";
import {
  boundedSearch,
  NEWEST,
  pageOf,
  SearchedArea,
  type SearchPage,
  type SearchResult,
  type SearchStep,
} from "./paging.ts";
import { failureProblemId } from "./problem-id.ts";

/** An event that was accepted and not run to its end, whose attempts have failed, or that was rejected. */
export interface StoredFailure extends EventKey {
  readonly id: number;
  /** Empty for a callback that its contract could not read: `encryptedBody` holds the request then. */
  readonly eventType: string;
  readonly version: string;
  readonly state: FailureState;
  /** Every attempt that failed: inline, retries and replays. */
  readonly attempts: number;
  /** Only asynchronous retries; `RETRY_MAX` bounds these. */
  readonly retriesDone: number;
  readonly code: FaultCode | "accepted";
  readonly error: string;
  readonly encryptedBody: Uint8Array;
  readonly bodySha256: string;
  readonly firstFailedAt: string;
  readonly lastFailedAt: string;
  readonly nextAttemptAt: string | null;
  readonly leasedUntil: string | null;
  /** How many processes ended during its attempts since the last completed one; above 0 it is suspect. */
  readonly crashes: number;
}

export interface NewFailure
  extends EventKey,
    Pick<StoredFailure, "eventType" | "version" | "code" | "error" | "encryptedBody" | "bodySha256"> {
  /** Null when no retry is allowed: the failure is `exhausted` from the start. */
  readonly nextAttemptAt: Date | null;
  /** Of its `orderBy`; empty where left out. */
  readonly orderKey?: string;
  /** It is `rejected`, whatever it was before. */
  readonly isRejected?: boolean;
  /** Default now; of a callback that was kept, when it came. */
  readonly firstFailedAt?: Date | undefined;
  readonly original?: FailureOriginal | undefined;
}

/** An event whose platform gets its response before the event was run. */
export interface NewAcceptedEvent
  extends EventKey,
    Pick<StoredFailure, "eventType" | "version" | "encryptedBody" | "bodySha256"> {
  readonly nextAttemptAt: Date;
  readonly orderKey?: string;
  /** Of the run in its callback that goes on; until it ends or has expired, no other one begins. */
  readonly lease?: Lease | undefined;
  readonly original?: FailureOriginal | undefined;
}

/** Stored with a failure, since the event's success comes without its request. */
export type FailureOriginal = NewBlock & { readonly keeper: OriginalKeeper };

export interface FailureFilter {
  readonly state?: FailureState | undefined;
  readonly source?: string | undefined;
  readonly eventType?: string | undefined;
  readonly code?: string | undefined;
  /** Failures of this problem, by its id. */
  readonly problem?: string | undefined;
  /** Those that this bulk replay has tried, and no later one. */
  readonly bulkReplay?: number | undefined;
}

export const FAILURE_COLUMNS = sql`id, source, event_id, event_type, version, state, attempts, retries_done, code, error,
  encrypted_body, body_sha256, first_failed_at, last_failed_at, next_attempt_at, leased_until, crashes`;

/** Of an accepted event. */
export const UNRUN = { state: "accepted", attempts: 0, retriesDone: 0, code: "accepted", error: "" };

/** `UPDATE … RETURNING` has no order of its own. */
export function byDueTime(one: StoredFailure, other: StoredFailure): number {
  return (one.nextAttemptAt ?? "").localeCompare(other.nextAttemptAt ?? "") || one.id - other.id;
}

/** Of a rejected event, by another delivery: its platform may have mended it. */
const REPLACED = sql.join(
  ["event_type", "version", "encrypted_body", "body_sha256", "order_key"].map((name) => {
    const [before, now] = [sql.ref(`oncehook_failures.${name}`), sql.ref(`excluded.${name}`)];
    return sql`${sql.ref(name)} = CASE oncehook_failures.state WHEN 'rejected' THEN ${now} ELSE ${before} END`;
  }),
);

/** Events whose attempts have failed, and rejected ones. `FailureLeases` has their attempts. */
export class Failures extends SearchedArea<FailureFilter & { readonly eventId?: string | undefined }, StoredFailure> {
  /**
   * Makes an event durable before it was run. One that is there already stays as it is. An exhausted or rejected one begins
   * again when a platform delivers it again. If it ended processes, it waits as a suspect. `last_failed_at` is when it was
   * accepted.
   */
  async accept(event: NewAcceptedEvent, now: Date): Promise<void> {
    const { lease, original, ...columns } = event;
    const leased = { leaseOwner: lease?.owner ?? null, leasedUntil: lease?.until ?? null };
    const row = { ...columns, ...UNRUN, ...leased, firstFailedAt: now, lastFailedAt: now };
    const statement = sql`${insert("oncehook_failures", row)}
      ON CONFLICT (event_id, source) DO UPDATE SET retries_done = 0, ${REPLACED},
      problem_id = CASE WHEN oncehook_failures.crashes > 0 THEN oncehook_failures.problem_id ELSE '' END,
      state = CASE WHEN oncehook_failures.crashes > 0 THEN 'waiting' ELSE 'accepted' END,
      last_failed_at = excluded.last_failed_at, next_attempt_at = excluded.next_attempt_at,
      lease_owner = excluded.lease_owner, leased_until = excluded.leased_until
      WHERE oncehook_failures.state IN ('exhausted', 'rejected') AND oncehook_failures.lease_owner IS NULL`;
    await writeWithOriginal(this.database, statement, event, original);
    await removeIfRecorded(this.database, event);
  }

  /**
   * A second failure of the same event counts as an attempt and leaves the retry schedule as it is. A rejection ends it, and a
   * failure after a rejection begins it, with what the platform sent then.
   */
  async record(failure: NewFailure, now: Date): Promise<void> {
    const { isRejected = false, firstFailedAt = now, original, ...columns } = failure;
    const state = isRejected ? "rejected" : failure.nextAttemptAt === null ? "exhausted" : "waiting";
    const counts = { state, attempts: 1, retriesDone: 0, firstFailedAt, lastFailedAt: now };
    const error = storableText(failure.error);
    const row = { ...columns, ...counts, error, problemId: failureProblemId({ ...failure, error }) };
    const isKept = sql`oncehook_failures.state IN ('waiting', 'exhausted') AND excluded.state <> 'rejected'`;
    const statement = sql`${insert("oncehook_failures", row)}
      ON CONFLICT (event_id, source) DO UPDATE SET
      code = excluded.code, error = excluded.error, problem_id = excluded.problem_id,
      last_failed_at = excluded.last_failed_at,
      attempts = oncehook_failures.attempts + 1,
      ${REPLACED},
      retries_done = CASE oncehook_failures.state WHEN 'rejected' THEN 0 ELSE oncehook_failures.retries_done END,
      state = CASE WHEN ${isKept} THEN oncehook_failures.state ELSE excluded.state END,
      next_attempt_at = CASE WHEN ${isKept} THEN oncehook_failures.next_attempt_at ELSE excluded.next_attempt_at END`;
    await writeWithOriginal(this.database, statement, failure, original);
    await removeIfRecorded(this.database, failure);
  }

  async remove({ source, eventId }: EventKey): Promise<boolean> {
    const where = equal({ eventId, source });
    return (await this.write`DELETE FROM oncehook_failures WHERE ${where}`).changes > 0;
  }

  async get({ source, eventId }: EventKey): Promise<StoredFailure | undefined> {
    const [failure] = await this.read<StoredFailure>`SELECT ${FAILURE_COLUMNS} FROM oncehook_failures
      WHERE ${equal({ eventId, source })}`;
    return failure;
  }

  /** Newest first, within a time budget. A filter reads only the index, and the rows of the page. */
  async search(
    { eventId, ...filter }: FailureFilter & { readonly eventId?: string | undefined },
    page: SearchPage,
  ): Promise<SearchResult<StoredFailure>> {
    const { dialect } = this.database;
    if (eventId !== undefined) {
      // One for each source at most, by the index of the key.
      const rows = await this.read<StoredFailure>`SELECT ${FAILURE_COLUMNS} FROM oncehook_failures
        WHERE ${equal({ eventId, ...filter })} AND id < ${page.before ?? NEWEST} ORDER BY id DESC LIMIT ${page.limit}`;
      return { rows, next: rows.length < page.limit ? null : (rows.at(-1)?.id ?? null) };
    }
    if (filter.problem !== undefined || filter.bulkReplay !== undefined) return this.searchNamed(filter, page);
    const { rows, next } = await boundedSearch(dialect, page, this.stepThrough(filter));
    const failures = await this.read<StoredFailure>`SELECT ${FAILURE_COLUMNS} FROM oncehook_failures
      WHERE ${idIn(dialect, idsOf(rows))} ORDER BY id DESC`;
    return { rows: failures, next };
  }

  /** By the index of problems, or of bulk replays, which holds few rows. */
  private async searchNamed(filter: FailureFilter, { limit, before = NEWEST }: SearchPage) {
    const matchingOne = sql.join(
      statesOf(filter).map((state) => sql`(${matching(state, filter)})`),
      sql` OR `,
    );
    const rows = await this.read<StoredFailure>`SELECT ${FAILURE_COLUMNS} FROM oncehook_failures
      WHERE ${named(filter)} AND id < ${before} AND (${matchingOne}) ORDER BY id DESC LIMIT ${limit + 1}`;
    return pageOf(rows, limit);
  }

  async counts(): Promise<Record<FailureState, number>> {
    const rows = await this.read<{ state: FailureState; count: number }>`
      SELECT state, count(*) AS count FROM oncehook_failures GROUP BY state`;
    const counts = { accepted: 0, waiting: 0, exhausted: 0, rejected: 0 };
    return Object.assign(counts, Object.fromEntries(rows.map(({ state, count }) => [state, count])));
  }

  /** When the next retry is due, in ISO 8601; null where none waits. */
  async nextAttemptAt(): Promise<string | null> {
    const [next] = await this.read<{ nextAttemptAt: string }>`SELECT next_attempt_at FROM oncehook_failures
      WHERE state = 'waiting' AND next_attempt_at IS NOT NULL ORDER BY next_attempt_at LIMIT 1`;
    return next?.nextAttemptAt ?? null;
  }

  /** When the oldest accepted event was accepted, in ISO 8601; null where none waits. */
  async oldestAccepted(): Promise<string | null> {
    const [oldest] = await this.read<{ since: string | null }>`
      SELECT min(last_failed_at) AS since FROM (${firstAccepted(ACCEPTED_READ)}) AS first`;
    return oldest?.since ?? null;
  }

  waitingTypes() {
    return this.read<
      Pick<StoredFailure, "source" | "eventType" | "version"> & { readonly count: number }
    >`SELECT source, event_type, version, count(*) AS count FROM oncehook_failures
      WHERE state IN ('accepted', 'waiting') GROUP BY source, event_type, version ORDER BY source, event_type, version`;
  }

  /** Each state's own part of the index: its next `step` ids, and those among them that match the filter. */
  private stepThrough(filter: FailureFilter): SearchStep<IdRow> {
    const ofStates = (idsOf: (state: FailureState) => Promise<readonly IdRow[]>) =>
      Promise.all(statesOf(filter).map(idsOf));
    return async (below, step, limit) => {
      const ends = await ofStates(
        (state) => this.read<IdRow>`SELECT id FROM oncehook_failures
          WHERE state = ${state} AND id < ${below} ORDER BY id DESC LIMIT 1 OFFSET ${step - 1}`,
      );
      // The rows of one state may end before those of another; all are read as far as the shortest step.
      const reached = Math.max(...ends.map(([end]) => end?.id ?? 0)) || undefined;
      const found = await ofStates(
        (state) => this.read<IdRow>`SELECT id FROM oncehook_failures WHERE ${matching(state, filter)}
          AND id < ${below} AND id >= ${reached ?? 0} ORDER BY id DESC LIMIT ${limit}`,
      );
      const rows = found.flat().sort((one, other) => other.id - one.id);
      return { rows: rows.slice(0, limit), reached };
    };
  }
}

/** In one transaction. If the original cannot be written, the failure is stored without it. */
async function writeWithOriginal(
  { dialect, write, transact }: Database,
  statement: RawBuilder<unknown>,
  key: EventKey,
  original: FailureOriginal | undefined,
): Promise<void> {
  if (original === undefined) return void (await run(write, statement));
  const kept = insertOriginal(key, original);
  try {
    if (dialect === "postgres") await run(write, sql`WITH original AS (${kept}) ${statement}`);
    else
      await transact(async (query) => {
        await run(query, kept);
        await run(query, statement);
      });
  } catch (error) {
    if (!pauseAfterError(error, [original.keeper])) throw error;
    await run(write, statement);
  }
}

/** Another delivery may have succeeded after this attempt rolled back, and no later callback would delete its failure. */
export async function removeIfRecorded({ write }: Database, { source, eventId }: EventKey): Promise<void> {
  const ofEvent = equal({ eventId, source });
  const isRecorded = sql`EXISTS (SELECT 1 FROM oncehook_records WHERE ${ofEvent} AND status = 'completed')`;
  await run(write, sql`DELETE FROM oncehook_failures WHERE ${ofEvent} AND ${isRecorded}`);
}

/** Those beyond are younger, but for events whose exhausted retries began again: these keep their ids. */
const ACCEPTED_READ = 1_000;

/** In the order of arrival. Not by `next_attempt_at`: an attempt that is put off moves that, and the event waits on. */
export function firstAccepted(limit: number): RawBuilder<unknown> {
  return sql`SELECT source, last_failed_at FROM oncehook_failures WHERE state = 'accepted' ORDER BY id LIMIT ${limit}`;
}

/** The index begins with the state: a filter without one reads it once for each. */
export function statesOf({ state }: FailureFilter): readonly FailureState[] {
  return state === undefined ? FAILURE_STATES : [state];
}

export function matching(state: FailureState, filter: FailureFilter): RawBuilder<unknown> {
  const { source, eventType, code, problem, bulkReplay } = filter;
  if (problem === undefined && bulkReplay === undefined) return equal({ state, source, eventType, code });
  // By an expression, so that no index by the state is used: that of the problem holds fewer rows.
  const ofSource = source === undefined ? sql`true` : sql`source || '' = ${source}`;
  return sql`${named(filter)} AND state || '' = ${state} AND ${equal({ eventType, code })} AND ${ofSource}`;
}

/** With the conditions of the indexes, word for word. */
function named({ problem, bulkReplay }: FailureFilter): RawBuilder<unknown> {
  const ofProblem = problem === undefined ? sql`true` : sql`problem_id = ${problem} AND problem_id <> ''`;
  return bulkReplay === undefined ? ofProblem : sql`${ofProblem} AND bulk_replay_id = ${bulkReplay}`;
}
