import { type Selectable, sql } from "kysely";
import { isoTime, storableText } from "./column-values.ts";
import { Area } from "./database.ts";
import { bringForward, cutLeases, isUnleased, type Lease, NO_LEASE } from "./lease.ts";
import type { UserTokenRow } from "./tables.ts";

/** The encrypted response of the token endpoint for one user. */
export interface StoredUserTokens {
  readonly userId: string;
  readonly encrypted: Uint8Array;
  /** ISO 8601; null where the platform gave no time. */
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

const TABLE = "oncehook_user_tokens";

/** Tokens that one process at a time refreshes: a refresh token often works once (RFC 9700 §4.14.2). */
export class UserTokens extends Area {
  async get(userId: string): Promise<StoredUserTokens | undefined> {
    const query = this.database.read.selectFrom(TABLE).selectAll().where("user_id", "=", userId);
    const row = await query.executeTakeFirst();
    return row === undefined ? undefined : toUserTokens(row);
  }

  async leaseOne(
    userId: string,
    { owner, now, until }: Lease,
  ): Promise<StoredUserTokens | "absent" | "leased"> {
    const row = await this.database.write
      .updateTable(TABLE)
      .set({ lease_owner: owner, leased_until: until.toISOString() })
      .where("user_id", "=", userId)
      .where(isUnleased(now))
      .returningAll()
      .executeTakeFirst();
    if (row !== undefined) return toUserTokens(row);
    if ((await this.get(userId)) === undefined) return "absent";
    const ofUser = { table: TABLE, where: sql`user_id = ${userId}` } as const;
    await cutLeases(this.database, ofUser, until.getTime() - now.getTime(), now);
    return "leased";
  }

  /** Leases those whose refresh is due. */
  async leaseDue(lease: Lease, limit: number): Promise<StoredUserTokens[]> {
    const { write, dialect } = this.database;
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

  /** Corrects leases and times that a clock wrote which was set back since. */
  async repairTimes(leaseMs: number, now: Date): Promise<void> {
    const due = sql`refresh_at <= ${now.toISOString()}`;
    await cutLeases(this.database, { table: TABLE, where: due }, leaseMs, now);
    const times = { key: "user_id", setAt: "updated_at", times: ["expires_at", "refresh_at"] };
    await bringForward(this.database, { table: TABLE, where: sql`updated_at IS NOT NULL`, ...times }, now);
  }

  /** Returns false if the lease was lost or the user authorized again meanwhile. */
  async save(
    userId: string,
    owner: string,
    { encrypted, expiresAt, refreshAt }: RefreshedTokens,
    now: Date,
  ): Promise<boolean> {
    const done = await this.database.write
      .updateTable(TABLE)
      .set({
        encrypted_tokens: encrypted,
        expires_at: expiresAt?.toISOString() ?? null,
        refresh_at: refreshAt?.toISOString() ?? null,
        updated_at: now.toISOString(),
        error: null,
        ...NO_LEASE,
      })
      .where("user_id", "=", userId)
      .where("lease_owner", "=", owner)
      .executeTakeFirst();
    return Number(done.numUpdatedRows) > 0;
  }

  /** Releases the lease; with `failed` after a refresh that did not succeed. */
  async release(userId: string, owner: string, failed?: FailedRefresh): Promise<void> {
    await this.database.write
      .updateTable(TABLE)
      .set(NO_LEASE)
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

  /** Returns false if the lease was lost or the user authorized again meanwhile. */
  async remove(userId: string, owner: string): Promise<boolean> {
    const done = await this.database.write
      .deleteFrom(TABLE)
      .where("user_id", "=", userId)
      .where("lease_owner", "=", owner)
      .executeTakeFirst();
    return Number(done.numDeletedRows) > 0;
  }
}

function toUserTokens(row: Selectable<UserTokenRow>): StoredUserTokens {
  return {
    userId: row.user_id,
    encrypted: row.encrypted_tokens,
    expiresAt: row.expires_at === null ? null : isoTime(row.expires_at),
    error: row.error,
  };
}
