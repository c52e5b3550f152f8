import type { Selectable } from "kysely";
import { isoTime, storableText } from "./column-values.ts";
import type { Database } from "./database.ts";
import type { Lease } from "./lease.ts";
import { isUnleased, latestPlausibleLeaseEnd } from "./lease.ts";
import type { StoredTime, UserTokenRow } from "./tables.ts";

/** The tokens of one user as the token endpoint answered them, encrypted. */
export interface StoredUserTokens {
  readonly userId: string;
  readonly encrypted: Uint8Array;
  /** ISO 8601; null where the platform did not say. */
  readonly expiresAt: string | null;
  /** Why they can no longer be refreshed; null while they can. */
  readonly error: string | null;
}

export interface RefreshedTokens {
  readonly encrypted: Uint8Array;
  readonly expiresAt: Date | null;
  readonly refreshAt: Date | null;
}

export interface FailedRefresh {
  /** Null: no further attempt. */
  readonly refreshAt: Date | null;
  /** Why they can no longer be refreshed; null where they may be later. */
  readonly error: string | null;
}

/** Tokens that are refreshed by one process at a time: a refresh token often works once (RFC 9700 §4.14.2). */
export interface UserTokenStore {
  get(userId: string): Promise<StoredUserTokens | undefined>;
  leaseOne(userId: string, lease: Lease): Promise<StoredUserTokens | "absent" | "leased">;
  /** Those that should be refreshed by now. */
  leaseDue(lease: Lease, limit: number): Promise<StoredUserTokens[]>;
  /** Mends leases and times that a clock wrote which was set back since. */
  repairTimes(leaseMs: number, now: Date): Promise<void>;
  /** Returns false if the lease was lost or the user authorized again meanwhile. */
  save(userId: string, owner: string, tokens: RefreshedTokens, now: Date): Promise<boolean>;
  /** Gives the lease back; with `failed` after a refresh that did not succeed. */
  release(userId: string, owner: string, failed?: FailedRefresh): Promise<void>;
  /** Returns false if the lease was lost or the user authorized again meanwhile. */
  remove(userId: string, owner: string): Promise<boolean>;
}

const TABLE = "oncehook_user_tokens";
/** Rows repaired per round; the others wait for the next round. */
const AT_ONCE = 100;
/** Processes whose clocks differ by less do not mend each other's times. */
const CLOCK_TOLERANCE_MS = 10_000;

/** The tokens of `UserTokenStore`, in SQL that both databases speak. */
export function userTokenQueries(database: Database): UserTokenStore {
  return {
    get: (userId) => get(database, userId),
    leaseOne: (userId, lease) => leaseOne(database, userId, lease),
    leaseDue: (lease, limit) => leaseDue(database, lease, limit),
    repairTimes: (leaseMs, now) => repairTimes(database, leaseMs, now),
    save: (userId, owner, tokens, now) => save(database, userId, owner, tokens, now),
    release: (userId, owner, failed) => release(database, userId, owner, failed),
    remove: (userId, owner) => remove(database, userId, owner),
  };
}

function toUserTokens(row: Selectable<UserTokenRow>): StoredUserTokens {
  return {
    userId: row.user_id,
    encrypted: row.sealed_tokens,
    expiresAt: row.expires_at === null ? null : isoTime(row.expires_at),
    error: row.error,
  };
}

async function get({ read }: Database, userId: string): Promise<StoredUserTokens | undefined> {
  const row = await read.selectFrom(TABLE).selectAll().where("user_id", "=", userId).executeTakeFirst();
  return row === undefined ? undefined : toUserTokens(row);
}

async function leaseOne(
  database: Database,
  userId: string,
  { owner, now, until }: Lease,
): Promise<StoredUserTokens | "absent" | "leased"> {
  const row = await database.write
    .updateTable(TABLE)
    .set({ lease_owner: owner, leased_until: until.toISOString() })
    .where("user_id", "=", userId)
    .where(isUnleased(now))
    .returningAll()
    .executeTakeFirst();
  if (row !== undefined) return toUserTokens(row);
  const there = await database.read
    .selectFrom(TABLE)
    .select("leased_until")
    .where("user_id", "=", userId)
    .executeTakeFirst();
  if (there === undefined) return "absent";
  const latest = latestPlausibleLeaseEnd(now, until.getTime() - now.getTime()).toISOString();
  if (there.leased_until !== null && isoTime(there.leased_until) > latest)
    await cutLeases(database, [userId], latest, until);
  return "leased";
}

/** A lease that was given before the clock was set back ends a lease from now at the latest. */
async function cutLeases({ write }: Database, userIds: string[], latest: string, until: Date): Promise<void> {
  if (userIds.length === 0) return;
  await write
    .updateTable(TABLE)
    .set({ leased_until: until.toISOString() })
    .where("user_id", "in", userIds)
    .where("leased_until", ">", latest)
    .execute();
}

/** What was written by a clock that was set back since expires, and is refreshed, as long after now as it was to be after then. */
async function repairTimes(database: Database, leaseMs: number, now: Date): Promise<void> {
  const latest = latestPlausibleLeaseEnd(now, leaseMs).toISOString();
  const leased = await database.read
    .selectFrom(TABLE)
    .select("user_id")
    .where("refresh_at", "<=", now.toISOString())
    .where("leased_until", ">", latest)
    .limit(AT_ONCE)
    .execute();
  const ids = leased.map(({ user_id }) => user_id);
  await cutLeases(database, ids, latest, new Date(now.getTime() + leaseMs));
  const ahead = await database.read
    .selectFrom(TABLE)
    .select(["user_id", "updated_at", "expires_at", "refresh_at"])
    .where("updated_at", ">", new Date(now.getTime() + CLOCK_TOLERANCE_MS).toISOString())
    .orderBy("updated_at")
    .limit(AT_ONCE)
    .execute();
  for (const row of ahead) {
    const by = Date.parse(isoTime(row.updated_at)) - now.getTime();
    const earlier = (time: StoredTime | null) =>
      time === null ? null : new Date(Date.parse(isoTime(time)) - by).toISOString();
    await database.write
      .updateTable(TABLE)
      .set({
        expires_at: earlier(row.expires_at),
        refresh_at: earlier(row.refresh_at),
        updated_at: now.toISOString(),
      })
      .where("user_id", "=", row.user_id)
      .where("updated_at", "=", row.updated_at)
      .execute();
  }
}

async function leaseDue(
  { write, dialect }: Database,
  lease: Lease,
  limit: number,
): Promise<StoredUserTokens[]> {
  const now = lease.now.toISOString();
  const rows = await write
    .with("due", (db) => {
      const due = db
        .selectFrom(TABLE)
        .select("user_id")
        .where("refresh_at", "<=", now)
        .where(isUnleased(lease.now))
        .orderBy("refresh_at")
        .limit(limit);
      return dialect === "postgres" ? due.forUpdate().skipLocked() : due;
    })
    .updateTable(TABLE)
    .set({ lease_owner: lease.owner, leased_until: lease.until.toISOString() })
    .where("user_id", "in", (eb) => eb.selectFrom("due").select("due.user_id"))
    .returningAll()
    .execute();
  return rows.map(toUserTokens);
}

async function save(
  { write }: Database,
  userId: string,
  owner: string,
  { encrypted, expiresAt, refreshAt }: RefreshedTokens,
  now: Date,
): Promise<boolean> {
  const done = await write
    .updateTable(TABLE)
    .set({
      sealed_tokens: encrypted,
      expires_at: expiresAt?.toISOString() ?? null,
      refresh_at: refreshAt?.toISOString() ?? null,
      updated_at: now.toISOString(),
      error: null,
      lease_owner: null,
      leased_until: null,
    })
    .where("user_id", "=", userId)
    .where("lease_owner", "=", owner)
    .executeTakeFirst();
  return Number(done.numUpdatedRows) > 0;
}

async function release(
  { write }: Database,
  userId: string,
  owner: string,
  failed: FailedRefresh | undefined,
): Promise<void> {
  await write
    .updateTable(TABLE)
    .set({ lease_owner: null, leased_until: null })
    .$if(failed !== undefined, (query) =>
      query.set({
        refresh_at: failed?.refreshAt?.toISOString() ?? null,
        error: failed?.error == null ? null : storableText(failed.error),
      }),
    )
    .where("user_id", "=", userId)
    .where("lease_owner", "=", owner)
    .execute();
}

async function remove({ write }: Database, userId: string, owner: string): Promise<boolean> {
  const done = await write
    .deleteFrom(TABLE)
    .where("user_id", "=", userId)
    .where("lease_owner", "=", owner)
    .executeTakeFirst();
  return Number(done.numDeletedRows) > 0;
}
