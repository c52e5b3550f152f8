import type { Selectable } from "kysely";
import type { Lease } from "../lease.ts";
import type { UserTokenRow } from "../tables.ts";
import type {
  FailedRefresh,
  RefreshedTokens,
  StoredUserTokens,
  UserTokenStore,
} from "../user-token-store.ts";
import type { Access } from "./access.ts";
import { isoTime, storableText } from "./rows.ts";
import { unleased } from "./unleased.ts";

const TABLE = "oncehook_user_tokens";

/** The tokens of `UserTokenStore`, in SQL that both databases speak. */
export function userTokenQueries(access: Access): UserTokenStore {
  return {
    get: (userId) => get(access, userId),
    leaseOne: (userId, lease) => leaseOne(access, userId, lease),
    leaseDue: (lease, limit) => leaseDue(access, lease, limit),
    save: (userId, owner, tokens, now) => save(access, userId, owner, tokens, now),
    release: (userId, owner, failed) => release(access, userId, owner, failed),
    remove: (userId, owner) => remove(access, userId, owner),
  };
}

function toUserTokens(row: Selectable<UserTokenRow>): StoredUserTokens {
  return {
    userId: row.user_id,
    sealed: row.sealed_tokens,
    expiresAt: row.expires_at === null ? null : isoTime(row.expires_at),
    error: row.error,
  };
}

async function get({ read }: Access, userId: string): Promise<StoredUserTokens | undefined> {
  const row = await read.selectFrom(TABLE).selectAll().where("user_id", "=", userId).executeTakeFirst();
  return row === undefined ? undefined : toUserTokens(row);
}

async function leaseOne(
  access: Access,
  userId: string,
  { owner, now, until }: Lease,
): Promise<StoredUserTokens | "absent" | "leased"> {
  const row = await access.write
    .updateTable(TABLE)
    .set({ lease_owner: owner, leased_until: until.toISOString() })
    .where("user_id", "=", userId)
    .where(unleased(now))
    .returningAll()
    .executeTakeFirst();
  if (row !== undefined) return toUserTokens(row);
  return (await get(access, userId)) === undefined ? "absent" : "leased";
}

async function leaseDue(
  { write, dialect }: Access,
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
        .where(unleased(lease.now))
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
  { write }: Access,
  userId: string,
  owner: string,
  { sealed, expiresAt, refreshAt }: RefreshedTokens,
  now: Date,
): Promise<boolean> {
  const done = await write
    .updateTable(TABLE)
    .set({
      sealed_tokens: sealed,
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
  { write }: Access,
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

async function remove({ write }: Access, userId: string, owner: string): Promise<boolean> {
  const done = await write
    .deleteFrom(TABLE)
    .where("user_id", "=", userId)
    .where("lease_owner", "=", owner)
    .executeTakeFirst();
  return Number(done.numDeletedRows) > 0;
}
