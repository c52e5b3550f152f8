import type { Selectable } from "kysely";
import type { EventKey, FaultCode } from "../domain/index.ts";
import { isoTime, storableText } from "./column-values.ts";
import { Area, type Database } from "./database.ts";
import { boundedSearch, type Page, type SearchPage, type SearchResult, type SearchStep } from "./paging.ts";
import type { FailureRow, StoredInteger } from "./tables.ts";

/** An event whose attempts have failed: it waits for its retry, or its retries are exhausted. */
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
  /** For its record. */
  readonly bodySha256: string;
  readonly firstFailedAt: string;
  readonly lastFailedAt: string;
  readonly nextAttemptAt: string | null;
  readonly leasedUntil: string | null;
  /** How many processes ended during its attempts since the last completed one; above 0 it is suspect. */
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

/** Failures that match every given member. */
export interface FailureFilter {
  readonly state?: StoredFailure["state"];
  readonly source?: string;
  readonly eventType?: string;
  readonly code?: string;
}

export interface WaitingType {
  readonly eventType: string;
  readonly version: string;
  readonly count: number;
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
    encryptedBody: row.encrypted_body,
    bodySha256: row.body_sha256,
    firstFailedAt: isoTime(row.first_failed_at),
    lastFailedAt: isoTime(row.last_failed_at),
    nextAttemptAt: row.next_attempt_at === null ? null : isoTime(row.next_attempt_at),
    leasedUntil: row.leased_until === null ? null : isoTime(row.leased_until),
    crashes: row.crashes,
  };
}

const FAILURES = "oncehook_failures";
/** Two thousand take about a millisecond or two; on a cold disk, more. */
const STEPS = { first: 256, most: 2_000 };

/** Events whose attempts have failed. `FailureLeases` has their attempts. */
export class Failures extends Area {
  /** A second failure of the same event counts as an attempt and leaves the retry schedule as it is. */
  async record(failure: NewFailure, now: Date): Promise<void> {
    const at = now.toISOString();
    const latest = { code: failure.code, error: storableText(failure.error), last_failed_at: at };
    await this.database.write
      .insertInto(FAILURES)
      .values({
        source: failure.source,
        event_id: failure.eventId,
        event_type: failure.eventType,
        version: failure.version,
        state: failure.nextAttemptAt === null ? "exhausted" : "waiting",
        attempts: 1,
        retries_done: 0,
        encrypted_body: failure.encryptedBody,
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
    await removeIfRecorded(this.database, failure);
  }

  /** Returns whether there was one. */
  async remove(key: EventKey): Promise<boolean> {
    const done = await this.database.write
      .deleteFrom(FAILURES)
      .where("event_id", "=", key.eventId)
      .where("source", "=", key.source)
      .executeTakeFirst();
    return Number(done.numDeletedRows) > 0;
  }

  async get(key: EventKey): Promise<StoredFailure | undefined> {
    const row = await this.database.read
      .selectFrom(FAILURES)
      .selectAll()
      .where("event_id", "=", key.eventId)
      .where("source", "=", key.source)
      .executeTakeFirst();
    return row === undefined ? undefined : toFailure(row);
  }

  /**
   * Newest first, within a time budget: `next` continues a search that has used it up. A filter reads the index alone, and only
   * the rows of the page. The failures of an event's id are found at once.
   */
  async search(
    { eventId, ...filter }: FailureFilter & { readonly eventId?: string },
    page: SearchPage,
  ): Promise<SearchResult<StoredFailure>> {
    const { dialect, read } = this.database;
    if (eventId !== undefined) return this.ofEvent(eventId, filter, page);
    const { rows, next } = await boundedSearch(dialect, STEPS, page, searchStep(this.database, filter));
    if (rows.length === 0) return { rows: [], next };
    const ids = rows.map(({ id }) => id);
    const found = read.selectFrom(FAILURES).selectAll().where("id", "in", ids);
    return { rows: (await found.orderBy("id", "desc").execute()).map(toFailure), next };
  }

  /** One for each source at most, by the index of the key. */
  private async ofEvent(
    eventId: string,
    { state, ...filter }: FailureFilter,
    { before = Number.MAX_SAFE_INTEGER, limit }: SearchPage,
  ): Promise<SearchResult<StoredFailure>> {
    const all = restricted(this.database, filter)
      .selectAll()
      .where("event_id", "=", eventId)
      .where("id", "<", before);
    const query = state === undefined ? all : all.where("state", "=", state);
    const rows = (await query.orderBy("id", "desc").limit(limit).execute()).map(toFailure);
    return { rows, next: rows.length < limit ? null : (rows.at(-1)?.id ?? null) };
  }

  /** A page, however long it takes to find. */
  async list(page: Page, filter: FailureFilter): Promise<readonly StoredFailure[]> {
    return (await this.search(filter, { ...page, budgetMs: Number.POSITIVE_INFINITY })).rows;
  }

  async counts(): Promise<Record<StoredFailure["state"], number>> {
    const rows = await this.database.read
      .selectFrom(FAILURES)
      .select((eb) => ["state", eb.fn.countAll().as("count")])
      .groupBy("state")
      .execute();
    const found = new Map(rows.map((row) => [row.state, Number(row.count)]));
    return { waiting: found.get("waiting") ?? 0, exhausted: found.get("exhausted") ?? 0 };
  }

  /** When the next retry is due, in ISO 8601; null where none waits. */
  async nextAttemptAt(): Promise<string | null> {
    const row = await this.database.read
      .selectFrom(FAILURES)
      .select("next_attempt_at")
      .where("state", "=", "waiting")
      .where("next_attempt_at", "is not", null)
      .orderBy("next_attempt_at")
      .limit(1)
      .executeTakeFirst();
    return row?.next_attempt_at == null ? null : isoTime(row.next_attempt_at);
  }

  /** How many failures wait for a retry, by event type and version. */
  async waitingTypes(): Promise<WaitingType[]> {
    const rows = await this.database.read
      .selectFrom(FAILURES)
      .select((eb) => ["event_type", "version", eb.fn.countAll().as("count")])
      .where("state", "=", "waiting")
      .groupBy(["event_type", "version"])
      .orderBy("event_type")
      .orderBy("version")
      .execute();
    return rows.map((row) => ({ eventType: row.event_type, version: row.version, count: Number(row.count) }));
  }
}

/**
 * Another delivery may have succeeded after this attempt rolled back. It deleted the failures that it saw, and no later callback
 * would delete this one.
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

/** Each state's own part of the index: its next `step` ids, and those among them that match the filter. */
function searchStep(database: Database, filter: FailureFilter): SearchStep<{ id: StoredInteger }> {
  return async (below, step, limit) => {
    const states = statesOf(filter);
    const ends = await Promise.all(states.map((state) => stepEnd(database, state, below, step)));
    // The rows of one state may end before those of the other; both are read as far as the shorter step.
    const reached = Math.max(...ends.map((end) => end ?? 0)) || undefined;
    const found = await Promise.all(
      states.map((state) =>
        matching(database, state, filter)
          .select("id")
          .where("id", "<", below)
          .where("id", ">=", reached ?? 0)
          .orderBy("id", "desc")
          .limit(limit)
          .execute(),
      ),
    );
    const rows = found.flat().sort((one, other) => Number(other.id) - Number(one.id));
    return { rows: rows.slice(0, limit), reached };
  };
}

async function stepEnd(
  { read }: Database,
  state: StoredFailure["state"],
  below: number,
  step: number,
): Promise<number | undefined> {
  const query = read.selectFrom(FAILURES).select("id").where("state", "=", state).where("id", "<", below);
  const row = await query
    .orderBy("id", "desc")
    .limit(1)
    .offset(step - 1)
    .executeTakeFirst();
  return row === undefined ? undefined : Number(row.id);
}

/** The index begins with the state: a filter without one reads it once for each. */
export function statesOf({ state }: FailureFilter): readonly StoredFailure["state"][] {
  return state === undefined ? ["waiting", "exhausted"] : [state];
}

export function matching(database: Database, state: StoredFailure["state"], filter: FailureFilter) {
  return restricted(database, filter).where("state", "=", state);
}

function restricted({ read }: Database, { source, eventType, code }: Omit<FailureFilter, "state">) {
  let query = read.selectFrom(FAILURES);
  if (source !== undefined) query = query.where("source", "=", source);
  if (eventType !== undefined) query = query.where("event_type", "=", eventType);
  if (code !== undefined) query = query.where("code", "=", code);
  return query;
}
