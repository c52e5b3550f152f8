import { type Selectable, sql } from "kysely";
import type {
  BulkReplayProgress,
  BulkReplayState,
  BulkReplayStore,
  Lease,
  NewBulkReplay,
  Page,
  StoredBulkReplay,
} from "../store.ts";
import type { BulkReplayRow } from "../tables.ts";
import type { Access } from "./access.ts";
import { countMatching, nextOf } from "./failure-lists.ts";
import { isoTime } from "./rows.ts";
import { latestBelievable, unleased } from "./unleased.ts";

const TABLE = "oncehook_bulk_replays";
const NO_LEASE = { lease_owner: null, leased_until: null } as const;
/** The condition of the index, word for word. */
const RUNNING = sql<boolean>`state = 'running'`;

/** The bulk replays of `BulkReplayStore`, in SQL that both databases speak. */
export function bulkReplayQueries(access: Access): BulkReplayStore {
  return {
    begin: (bulk, now) => begin(access, bulk, now),
    get: (id) => get(access, id),
    list: (page) => list(access, page),
    change: (id, to, now) => change(access, id, to, now),
    lease: (lease) => leaseOldest(access, lease),
    next: nextOf(access),
    advance: (id, owner, progress, until) => advance(access, id, owner, progress, until),
    finish: (id, owner, now) => finish(access, id, owner, now),
    release: (id, owner) => release(access, id, owner),
  };
}

async function begin(access: Access, bulk: NewBulkReplay, now: Date): Promise<StoredBulkReplay> {
  const { upToId, total } = await countMatching(access, bulk.filter);
  const row = await access.write
    .insertInto(TABLE)
    .values({
      filter: JSON.stringify(bulk.filter),
      per_second: bulk.perSecond,
      begun_by: bulk.by,
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

async function get({ read }: Access, id: number): Promise<StoredBulkReplay | undefined> {
  const row = await read.selectFrom(TABLE).selectAll().where("id", "=", id).executeTakeFirst();
  return row === undefined ? undefined : toBulkReplay(row);
}

async function list({ read }: Access, page: Page): Promise<StoredBulkReplay[]> {
  let query = read.selectFrom(TABLE).selectAll().orderBy("id", "desc").limit(page.limit);
  if (page.before !== undefined) query = query.where("id", "<", page.before);
  return (await query.execute()).map(toBulkReplay);
}

async function change(
  access: Access,
  id: number,
  to: Exclude<BulkReplayState, "done">,
  now: Date,
): Promise<StoredBulkReplay | "absent" | "ended"> {
  const row = await access.write
    .updateTable(TABLE)
    .set({ state: to, ended_at: to === "cancelled" ? now.toISOString() : null })
    .where("id", "=", id)
    .where("state", "in", ["running", "paused"])
    .returningAll()
    .executeTakeFirst();
  if (row !== undefined) return toBulkReplay(row);
  return (await get(access, id)) === undefined ? "absent" : "ended";
}

/** Looked up before it is leased: a round that finds nothing writes nothing. */
async function leaseOldest({ read, write }: Access, lease: Lease): Promise<StoredBulkReplay | undefined> {
  const oldest = await read
    .selectFrom(TABLE)
    .select("id")
    .where(RUNNING)
    .where(unleased(lease.now))
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  if (oldest === undefined) {
    await cutFarLeases({ read, write }, lease);
    return undefined;
  }
  const row = await write
    .updateTable(TABLE)
    .set({ lease_owner: lease.owner, leased_until: lease.until.toISOString() })
    .where("id", "=", oldest.id)
    .where(RUNNING)
    .where(unleased(lease.now))
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? undefined : toBulkReplay(row);
}

/** A lease that was given before the clock was set back ends a lease from now at the latest. */
async function cutFarLeases({ read, write }: Pick<Access, "read" | "write">, lease: Lease): Promise<void> {
  const latest = latestBelievable(lease.now, lease.until.getTime() - lease.now.getTime()).toISOString();
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
  { write }: Access,
  id: number,
  owner: string,
  { afterId, succeeded, already }: BulkReplayProgress,
  until: Date,
): Promise<StoredBulkReplay | undefined> {
  const row = await write
    .updateTable(TABLE)
    .set((eb) => ({
      after_id: afterId,
      succeeded: eb("succeeded", "+", succeeded),
      already: eb("already", "+", already),
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
  { write }: Access,
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

async function release({ write }: Access, id: number, owner: string): Promise<void> {
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
    by: row.begun_by,
    state: row.state,
    total: Number(row.total),
    succeeded: Number(row.succeeded),
    already: Number(row.already),
    failed: Number(row.failed),
    afterId: Number(row.after_id),
    upToId: Number(row.up_to_id),
    begunAt: isoTime(row.begun_at),
    endedAt: row.ended_at === null ? null : isoTime(row.ended_at),
  };
}
