import { type Selectable, sql } from "kysely";
import type { EventKey } from "../domain/index.ts";
import { isoTime } from "./column-values.ts";
import { Area, type Database } from "./database.ts";
import { type FailureFilter, matching, statesOf } from "./failures.ts";
import { cutLeases, isUnleased, type Lease, NO_LEASE } from "./lease.ts";
import type { Page } from "./paging.ts";
import type { BulkReplayRow } from "./tables.ts";

export type BulkReplayState = "running" | "paused" | "cancelled" | "done";

export interface NewBulkReplay {
  readonly filter: FailureFilter;
  /** How many replays may start in a second. */
  readonly perSecond: number;
  /** The operator that started it. */
  readonly createdBy: string;
}

/** How its replays ended. */
export interface BulkReplayCounts {
  readonly succeeded: number;
  /** Handled, discarded or deleted before they were replayed. */
  readonly alreadyHandled: number;
  readonly failed: number;
}

/** The replay of every failure that matches a filter, one after the other. */
export interface StoredBulkReplay extends NewBulkReplay, BulkReplayCounts {
  readonly id: number;
  readonly state: BulkReplayState;
  /** How many failures there were at the beginning. */
  readonly total: number;
  /** Failures with a higher id came later and are not replayed. */
  readonly upToId: number;
  /** The failures up to this id are done. */
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

/** `FailureLeases.reschedule` has counted the failed ones, with the failure itself. */
export interface BulkReplayProgress extends Omit<BulkReplayCounts, "failed"> {
  readonly afterId: number;
}

const TABLE = "oncehook_bulk_replays";
/** The condition of the index, word for word. */
const RUNNING = sql<boolean>`state = 'running'`;

export class BulkReplays extends Area {
  async create(bulk: NewBulkReplay, now: Date): Promise<StoredBulkReplay> {
    const { upToId, total } = await countFailures(this.database, bulk.filter);
    const row = await this.database.write
      .insertInto(TABLE)
      .values({
        filter: JSON.stringify(bulk.filter),
        per_second: bulk.perSecond,
        created_by: bulk.createdBy,
        state: "running",
        total,
        succeeded: 0,
        already_handled: 0,
        failed: 0,
        after_id: 0,
        up_to_id: upToId,
        started_at: now.toISOString(),
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    return toBulkReplay(row);
  }

  async get(id: number): Promise<StoredBulkReplay | undefined> {
    const query = this.database.read.selectFrom(TABLE).selectAll().where("id", "=", id);
    const row = await query.executeTakeFirst();
    return row === undefined ? undefined : toBulkReplay(row);
  }

  async list(page: Page): Promise<StoredBulkReplay[]> {
    let query = this.database.read.selectFrom(TABLE).selectAll().orderBy("id", "desc").limit(page.limit);
    if (page.before !== undefined) query = query.where("id", "<", page.before);
    return (await query.execute()).map(toBulkReplay);
  }

  /** Pauses, resumes or cancels it; `ended` when it is over already. */
  async change(
    id: number,
    to: Exclude<BulkReplayState, "done">,
    now: Date,
  ): Promise<StoredBulkReplay | "absent" | "ended"> {
    const row = await this.database.write
      .updateTable(TABLE)
      .set({ state: to, ended_at: to === "cancelled" ? now.toISOString() : null })
      .where("id", "=", id)
      .where("state", "in", ["running", "paused"])
      .returningAll()
      .executeTakeFirst();
    if (row !== undefined) return toBulkReplay(row);
    return (await this.get(id)) === undefined ? "absent" : "ended";
  }

  /** Leases the oldest running bulk replay that no process holds. A round that finds none writes nothing. */
  async lease({ owner, now, until }: Lease): Promise<StoredBulkReplay | undefined> {
    const oldest = await this.database.read
      .selectFrom(TABLE)
      .select("id")
      .where(RUNNING)
      .where(isUnleased(now))
      .orderBy("id")
      .limit(1)
      .executeTakeFirst();
    if (oldest === undefined) {
      const leaseMs = until.getTime() - now.getTime();
      await cutLeases(this.database, { table: TABLE, where: RUNNING }, leaseMs, now);
      return undefined;
    }
    const row = await this.database.write
      .updateTable(TABLE)
      .set({ lease_owner: owner, leased_until: until.toISOString() })
      .where("id", "=", oldest.id)
      .where(RUNNING)
      .where(isUnleased(now))
      .returningAll()
      .executeTakeFirst();
    return row === undefined ? undefined : toBulkReplay(row);
  }

  /**
   * The next failures to try, by their ids. A failure names the bulk replay that tried it last, and an earlier one leaves it out;
   * otherwise the two would try the same failures again and again.
   */
  async next(bulk: StoredBulkReplay, limit: number): Promise<DueReplay[]> {
    const { id, filter, afterId, upToId, startedAt } = bulk;
    const found = await Promise.all(
      statesOf(filter).map((state) => {
        const query = matching(this.database, state, filter)
          .select(["id", "source", "event_id", "crashes"])
          .where("id", ">", afterId)
          .where("id", "<=", upToId)
          .where((eb) => eb.or([eb("bulk_replay_id", "is", null), eb("bulk_replay_id", "<", id)]))
          .orderBy("id")
          .limit(limit);
        // Once the row of the highest id is gone, SQLite gives that id to a later failure.
        const mayReuseIds = this.database.dialect === "sqlite";
        return (mayReuseIds ? query.where("first_failed_at", "<=", startedAt) : query).execute();
      }),
    );
    return found
      .flat()
      .map((row) => ({
        id: Number(row.id),
        source: row.source,
        eventId: row.event_id,
        isSuspect: row.crashes > 0,
      }))
      .sort((one, other) => one.id - other.id)
      .slice(0, limit);
  }

  /** Adds to its counts and extends the lease; undefined where that was lost, and then nothing is counted. */
  async advance(
    id: number,
    owner: string,
    { afterId, succeeded, alreadyHandled }: BulkReplayProgress,
    until: Date,
  ): Promise<StoredBulkReplay | undefined> {
    const row = await this.database.write
      .updateTable(TABLE)
      .set((eb) => ({
        after_id: afterId,
        succeeded: eb("succeeded", "+", succeeded),
        already_handled: eb("already_handled", "+", alreadyHandled),
        leased_until: until.toISOString(),
      }))
      .where("id", "=", id)
      .where("lease_owner", "=", owner)
      .returningAll()
      .executeTakeFirst();
    return row === undefined ? undefined : toBulkReplay(row);
  }

  /** Ends it unless it was paused or cancelled meanwhile. Failures that were gone before their replay count as handled. */
  async finish(id: number, owner: string, now: Date): Promise<StoredBulkReplay | undefined> {
    const row = await this.database.write
      .updateTable(TABLE)
      .set({
        state: "done",
        ended_at: now.toISOString(),
        already_handled: sql<number>`CASE WHEN total > succeeded + already_handled + failed
          THEN total - succeeded - failed ELSE already_handled END`,
        ...NO_LEASE,
      })
      .where("id", "=", id)
      .where("lease_owner", "=", owner)
      .where(RUNNING)
      .returningAll()
      .executeTakeFirst();
    return row === undefined ? undefined : toBulkReplay(row);
  }

  async release(id: number, owner: string): Promise<void> {
    await this.database.write
      .updateTable(TABLE)
      .set(NO_LEASE)
      .where("id", "=", id)
      .where("lease_owner", "=", owner)
      .execute();
  }
}

/** How many failures match, up to the highest id. */
async function countFailures(
  database: Database,
  filter: FailureFilter,
): Promise<{ readonly upToId: number; readonly total: number }> {
  const newest = await database.read
    .selectFrom("oncehook_failures")
    .select("id")
    .where("id", ">", 0)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  const upToId = Number(newest?.id ?? 0);
  const counts = await Promise.all(
    statesOf(filter).map((state) =>
      matching(database, state, filter)
        .select((eb) => eb.fn.countAll().as("count"))
        .where("id", "<=", upToId)
        .executeTakeFirst(),
    ),
  );
  return { upToId, total: counts.reduce((sum, row) => sum + Number(row?.count ?? 0), 0) };
}

function toBulkReplay(row: Selectable<BulkReplayRow>): StoredBulkReplay {
  return {
    id: Number(row.id),
    filter: JSON.parse(row.filter),
    perSecond: row.per_second,
    createdBy: row.created_by,
    state: row.state,
    total: Number(row.total),
    succeeded: Number(row.succeeded),
    alreadyHandled: Number(row.already_handled),
    failed: Number(row.failed),
    afterId: Number(row.after_id),
    upToId: Number(row.up_to_id),
    startedAt: isoTime(row.started_at),
    endedAt: row.ended_at === null ? null : isoTime(row.ended_at),
  };
}
