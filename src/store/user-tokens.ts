import { type RawBuilder, sql } from "kysely";
import { storableText } from "./column-values.ts";
import { Area, assign } from "./database.ts";
import { bringForward, cutLeases, isUnleased, type Lease, NO_LEASE } from "./lease.ts";

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
const COLUMNS = sql`user_id, encrypted_tokens AS encrypted, expires_at, error`;

/** Tokens that one process at a time refreshes: a refresh token often works once (RFC 9700 §4.14.2). */
export class UserTokens extends Area {
  async get(userId: string): Promise<StoredUserTokens | undefined> {
    const [tokens] = await this.read<StoredUserTokens>`SELECT ${COLUMNS} FROM oncehook_user_tokens
      WHERE user_id = ${userId}`;
    return tokens;
  }

  async leaseOne(userId: string, lease: Lease): Promise<StoredUserTokens | "absent" | "leased"> {
    const { now, until } = lease;
    const [tokens] = await this.lease(lease, sql`user_id = ${userId} AND ${isUnleased(now)}`);
    if (tokens !== undefined) return tokens;
    if ((await this.get(userId)) === undefined) return "absent";
    const ofUser = { table: TABLE, where: sql`user_id = ${userId}` } as const;
    await cutLeases(this.database, ofUser, until.getTime() - now.getTime(), now);
    return "leased";
  }

  /** Leases those whose refresh is due. */
  leaseDue(lease: Lease, limit: number): Promise<readonly StoredUserTokens[]> {
    const due = sql`SELECT user_id FROM oncehook_user_tokens WHERE refresh_at <= ${lease.now}
      AND ${isUnleased(lease.now)} ORDER BY refresh_at LIMIT ${limit} ${this.skipLocked}`;
    return this.lease(lease, sql`user_id IN (SELECT user_id FROM due)`, sql`WITH due AS (${due})`);
  }

  private async lease({ owner, until }: Lease, where: RawBuilder<unknown>, withDue = sql``) {
    const { rows } = await this.write<StoredUserTokens>`${withDue} UPDATE oncehook_user_tokens
      SET lease_owner = ${owner}, leased_until = ${until} WHERE ${where} RETURNING ${COLUMNS}`;
    return rows;
  }

  /** Corrects leases and times that a clock wrote which was set back since. */
  async repairTimes(leaseMs: number, now: Date): Promise<void> {
    await cutLeases(this.database, { table: TABLE, where: sql`refresh_at <= ${now}` }, leaseMs, now);
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
    const { changes } = await this.write`UPDATE oncehook_user_tokens SET encrypted_tokens = ${encrypted},
      expires_at = ${expiresAt}, refresh_at = ${refreshAt}, updated_at = ${now}, error = NULL, ${NO_LEASE}
      WHERE user_id = ${userId} AND lease_owner = ${owner}`;
    return changes > 0;
  }

  /** Releases the lease; with `failed` after a refresh that did not succeed. */
  async release(userId: string, owner: string, failed?: FailedRefresh): Promise<void> {
    const changes = failed && { refreshAt: failed.refreshAt, error: storableText(failed.error) };
    await this
      .write`UPDATE oncehook_user_tokens SET ${changes ? sql`${assign(changes)}, ${NO_LEASE}` : NO_LEASE}
      WHERE user_id = ${userId} AND lease_owner = ${owner}`;
  }

  /** Returns false if the lease was lost or the user authorized again meanwhile. */
  async remove(userId: string, owner: string): Promise<boolean> {
    const { changes } = await this.write`DELETE FROM oncehook_user_tokens
      WHERE user_id = ${userId} AND lease_owner = ${owner}`;
    return changes > 0;
  }
}
