import { type Selectable, sql } from "kysely";
import type { EventKey } from "../domain/index.ts";
import { isoTime } from "./column-values.ts";
import type { Database } from "./database.ts";
import { countMatching, nextFailuresToReplay } from "./failure-search.ts";
import type { FailureFilter } from "./failures.ts";
import type { Lease } from "./lease.ts";
import { isUnleased, latestPlausibleLeaseEnd } from "./lease.ts";
import type { Page } from "./paging.ts";
import type { BulkReplayRow } from "./tables.ts";

export type BulkReplayState = "running" | "paused" | "cancelled" | "done";

export interface NewBulkReplay {
  readonly filter: FailureFilter;
  /** How many replays may begin in a second. */
  readonly perSecond: number;
  /** Who asked for it. */
  readonly createdBy: string;
}

/** How its replays ended. */
export interface BulkReplayCounts {
  readonly succeeded: number;
  /** Handled, discarded or deleted before they were replayed. */
  readonly alreadyHandled: number;
  readonly failed: number;
}

/** The replay of every failure that a filter finds, one after the other. */
export interface StoredBulkReplay extends NewBulkReplay, BulkReplayCounts {
  readonly id: number;
  readonly state: BulkReplayState;
  /** How many failures there were at the beginning. */
  readonly total: number;
  /** Failures with a higher id came later and are not replayed. */
  readonly upToId: number;
  /** It is done with the failures up to this id. */
  readonly afterId: number;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly endedAt: string | null;
}

/** The next failure to replay. */
export interface DueReplay extends EventKey {
  /** Of the failure. */
  readonly id: number;
  /** Whether a process ended during its last attempt. */
  readonly isSuspect: boolean;
}

/** What failed was counted with the failure itself (`FailureStore.reschedule`). */
export interface BulkReplayProgress extends Omit<BulkReplayCounts, "failed"> {
  readonly afterId: number;
}

export interface BulkReplayStore {
  create(bulk: NewBulkReplay, now: Date): Promise<StoredBulkReplay>;
  get(id: number): Promise<StoredBulkReplay | undefined>;
  list(page: Page): Promise<StoredBulkReplay[]>;
  /** Pauses, resumes or cancels it; `ended` when it is over already. */
  change(
    id: number,
    to: Exclude<BulkReplayState, "done">,
    now: Date,
  ): Promise<StoredBulkReplay | "absent" | "ended">;
  /** Leases the oldest running bulk replay that no process holds. */
  lease(lease: Lease): Promise<StoredBulkReplay | undefined>;
  /** The next failures that it has not tried, by their ids. */
  next(bulk: StoredBulkReplay, limit: number): Promise<DueReplay[]>;
  /** Adds to its counts and keeps the lease; undefined where that was lost, and then nothing is counted. */
  advance(
    id: number,
    owner: string,
    progress: BulkReplayProgress,
    until: Date,
  ): Promise<StoredBulkReplay | undefined>;
  /** Ends it unless it was paused or cancelled meanwhile; failures not replayed no longer existed. */
  finish(id: number, owner: string, now: Date): Promise<StoredBulkReplay | undefined>;
  release(id: number, owner: string): Promise<void>;
}

const TABLE = "oncehook_bulk_replays";
const NO_LEASE = { lease_owner: null, leased_until: null } as const;
/** The condition of the index, word for word. */
const RUNNING = sql<boolean>`state = 'running'`;

/** The bulk replays of `BulkReplayStore`, in SQL that both databases speak. */
export function bulkReplayQueries(database: Database): BulkReplayStore {
  return {
    create: (bulk, now) => create(database, bulk, now),
    get: (id) => get(database, id),
    list: (page) => list(database, page),
    change: (id, to, now) => change(database, id, to, now),
    lease: (lease) => leaseOldest(database, lease),
    next: nextFailuresToReplay(database),
    advance: (id, owner, progress, until) => advance(database, id, owner, progress, until),
    finish: (id, owner, now) => finish(database, id, owner, now),
    release: (id, owner) => release(database, id, owner),
  };
}

async function create(database: Database, bulk: NewBulkReplay, now: Date): Promise<StoredBulkReplay> {
  const { upToId, total } = await countMatching(database, bulk.filter);
  const row = await database.write
    .insertInto(TABLE)
    .values({
      filter: JSON.stringify(bulk.filter),
      per_second: bulk.perSecond,
      begun_by: bulk.createdBy,
      state: "running",
      total,
      succeeded: 0,
      already: 0,
      failed: 0,
      after_id: 0,
      up_to_id: upToId,
      begun_at: now.toISOString(),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return toBulkReplay(row);
}

async function get({ read }: Database, id: number): Promise<StoredBulkReplay | undefined> {
  const row = await read.selectFrom(TABLE).selectAll().where("id", "=", id).executeTakeFirst();
  return row === undefined ? undefined : toBulkReplay(row);
}

async function list({ read }: Database, page: Page): Promise<StoredBulkReplay[]> {
  let query = read.selectFrom(TABLE).selectAll().orderBy("id", "desc").limit(page.limit);
  if (page.before !== undefined) query = query.where("id", "<", page.before);
  return (await query.execute()).map(toBulkReplay);
}

async function change(
  database: Database,
  id: number,
  to: Exclude<BulkReplayState, "done">,
  now: Date,
): Promise<StoredBulkReplay | "absent" | "ended"> {
  const row = await database.write
    .updateTable(TABLE)
    .set({ state: to, ended_at: to === "cancelled" ? now.toISOString() : null })
    .where("id", "=", id)
    .where("state", "in", ["running", "paused"])
    .returningAll()
    .executeTakeFirst();
  if (row !== undefined) return toBulkReplay(row);
  return (await get(database, id)) === undefined ? "absent" : "ended";
}

/** Looked up before it is leased: a round that finds nothing writes nothing. */
async function leaseOldest({ read, write }: Database, lease: Lease): Promise<StoredBulkReplay | undefined> {
  const oldest = await read
    .selectFrom(TABLE)
    .select("id")
    .where(RUNNING)
    .where(isUnleased(lease.now))
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  if (oldest === undefined) {
    await shortenFarLeases({ read, write }, lease);
    return undefined;
  }
  const row = await write
    .updateTable(TABLE)
    .set({ lease_owner: lease.owner, leased_until: lease.until.toISOString() })
    .where("id", "=", oldest.id)
    .where(RUNNING)
    .where(isUnleased(lease.now))
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? undefined : toBulkReplay(row);
}

/** A lease that was given before the clock was set back ends a lease from now at the latest. */
async function shortenFarLeases(
  { read, write }: Pick<Database, "read" | "write">,
  lease: Lease,
): Promise<void> {
  const latest = latestPlausibleLeaseEnd(
    lease.now,
    lease.until.getTime() - lease.now.getTime(),
  ).toISOString();
  const far = read.selectFrom(TABLE).select("id").where(RUNNING).where("leased_until", ">", latest);
  if ((await far.limit(1).executeTakeFirst()) === undefined) return;
  await write
    .updateTable(TABLE)
    .set({ leased_until: lease.until.toISOString() })
    .where(RUNNING)
    .where("leased_until", ">", latest)
    .execute();
}

async function advance(
  { write }: Database,
  id: number,
  owner: string,
  { afterId, succeeded, alreadyHandled }: BulkReplayProgress,
  until: Date,
): Promise<StoredBulkReplay | undefined> {
  const row = await write
    .updateTable(TABLE)
    .set((eb) => ({
      after_id: afterId,
      succeeded: eb("succeeded", "+", succeeded),
      already: eb("already", "+", alreadyHandled),
      leased_until: until.toISOString(),
    }))
    .where("id", "=", id)
    .where("lease_owner", "=", owner)
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? undefined : toBulkReplay(row);
}

/** Those that were gone when their turn came were never counted one by one. */
async function finish(
  { write }: Database,
  id: number,
  owner: string,
  now: Date,
): Promise<StoredBulkReplay | undefined> {
  const row = await write
    .updateTable(TABLE)
    .set({
      state: "done",
      ended_at: now.toISOString(),
      already: sql<number>`CASE WHEN total > succeeded + already + failed
        THEN total - succeeded - failed ELSE already END`,
      ...NO_LEASE,
    })
    .where("id", "=", id)
    .where("lease_owner", "=", owner)
    .where(RUNNING)
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? undefined : toBulkReplay(row);
}

async function release({ write }: Database, id: number, owner: string): Promise<void> {
  await write
    .updateTable(TABLE)
    .set(NO_LEASE)
    .where("id", "=", id)
    .where("lease_owner", "=", owner)
    .execute();
}

function toBulkReplay(row: Selectable<BulkReplayRow>): StoredBulkReplay {
  return {
    id: Number(row.id),
    filter: JSON.parse(row.filter),
    perSecond: row.per_second,
    createdBy: row.begun_by,
    state: row.state,
    total: Number(row.total),
    succeeded: Number(row.succeeded),
    alreadyHandled: Number(row.already),
    failed: Number(row.failed),
    afterId: Number(row.after_id),
    upToId: Number(row.up_to_id),
    startedAt: isoTime(row.begun_at),
    endedAt: row.ended_at === null ? null : isoTime(row.ended_at),
  };
}
