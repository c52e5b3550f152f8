import { type RawBuilder, sql } from "kysely";
import { createWindowLimit } from "../../domain/index.ts";
import { Area, assign, insert, storableText } from "../database.ts";
import { type Deadline, lookUpUntil } from "../retry-until.ts";
import { bringForward, cutLeases, isUnleased, type Lease, NO_LEASE } from "./lease.ts";

/** Any client can end flows, each with a row. Past so many in a flow's time each new row replaces the oldest. */
const MAX_SPENT_STATES = 10_000;
const SPENT_FOR_MS = 600_000;
/** Rows one call deletes at most, so that no callback waits long for the writer. */
const EXPIRED_STEP = 100;

/** States of OAuth flows; only their hashes are kept. A flow that was started here has no row while it runs. */
export class RedirectStates extends Area {
  /** Counted by the process: the database would have to walk through all of them. */
  private readonly mayStay = createWindowLimit(MAX_SPENT_STATES, SPENT_FOR_MS);

  /** Expects a state of a flow that the platform starts. */
  async register(stateSha256: string, expiresAt: Date, now: Date): Promise<void> {
    await this.write`${insert("oncehook_redirect_states", { stateSha256, expiresAt, createdAt: now })}
      ON CONFLICT (state_sha256) DO UPDATE SET expires_at = excluded.expires_at, created_at = excluded.created_at`;
  }

  /** False if it was not registered, has expired or was consumed. @throws StoreError at the deadline, as `find` does */
  isRegistered(stateSha256: string, now: Date, deadline: Deadline): Promise<boolean> {
    return this.exists(
      sql`SELECT 1 FROM oncehook_redirect_states WHERE state_sha256 = ${stateSha256} AND expires_at > ${now}`,
      deadline,
    );
  }

  /** Ends a registered flow without a code: its state is no longer expected. */
  async consume(stateSha256: string): Promise<void> {
    await this.write`DELETE FROM oncehook_redirect_states WHERE state_sha256 = ${stateSha256}`;
  }

  /** Ends a flow that was started here, and deletes some expired rows. */
  async spend(stateSha256: string, expiresAt: Date, now: Date): Promise<void> {
    await this.write`${insert("oncehook_spent_states", { stateSha256, expiresAt })}
      ON CONFLICT (state_sha256) DO NOTHING`;
    await this.write`DELETE FROM oncehook_spent_states WHERE state_sha256 IN (SELECT state_sha256
      FROM oncehook_spent_states WHERE expires_at <= ${now} ORDER BY expires_at LIMIT ${sql.lit(EXPIRED_STEP)})`;
    if (this.mayStay(now)) return;
    await this.write`DELETE FROM oncehook_spent_states WHERE state_sha256 IN (SELECT state_sha256
      FROM oncehook_spent_states ORDER BY expires_at LIMIT 1)`;
  }

  /** @throws StoreError at the deadline, as `find` does */
  isSpent(stateSha256: string, deadline: Deadline): Promise<boolean> {
    return this.exists(sql`SELECT 1 FROM oncehook_spent_states WHERE state_sha256 = ${stateSha256}`, deadline);
  }

  private async exists(look: RawBuilder<unknown>, deadline: Deadline): Promise<boolean> {
    const { read, transientReason } = this.database;
    return (await lookUpUntil(deadline, () => look.execute(read), transientReason)).rows.length > 0;
  }
}

/** The encrypted response of the token endpoint for one user. */
export interface StoredUserTokens {
  readonly userId: string;
  readonly encrypted: Uint8Array;
  /** ISO 8601; null where the platform gave no time. */
  readonly expiresAt: string | null;
  /** Why they can no longer be refreshed; null while they can. */
  readonly error: string | null;
}

export interface RefreshedTokens extends Pick<StoredUserTokens, "encrypted"> {
  readonly expiresAt: Date | null;
  /** Null: no further attempt. */
  readonly refreshAt: Date | null;
}

const TOKENS = "oncehook_user_tokens";
const TOKEN_COLUMNS = sql`user_id, encrypted_tokens AS encrypted, expires_at, error`;

/** Tokens that one process at a time refreshes: a refresh token often works once (RFC 9700 §4.14.2). */
export class UserTokens extends Area {
  async get(userId: string): Promise<StoredUserTokens | undefined> {
    const [tokens] = await this.read<StoredUserTokens>`SELECT ${TOKEN_COLUMNS} FROM oncehook_user_tokens
      WHERE user_id = ${userId}`;
    return tokens;
  }

  async leaseOne(userId: string, lease: Lease): Promise<StoredUserTokens | "absent" | "leased"> {
    const { now, until } = lease;
    const [tokens] = await this.lease(lease, sql`user_id = ${userId} AND ${isUnleased(now)}`);
    if (tokens !== undefined) return tokens;
    if ((await this.get(userId)) === undefined) return "absent";
    const ofUser = { table: TOKENS, where: sql`user_id = ${userId}` } as const;
    await cutLeases(this.database, ofUser, until.getTime() - now.getTime(), now);
    return "leased";
  }

  leaseDue(lease: Lease, limit: number): Promise<readonly StoredUserTokens[]> {
    const due = sql`SELECT user_id FROM oncehook_user_tokens WHERE refresh_at <= ${lease.now}
      AND ${isUnleased(lease.now)} ORDER BY refresh_at LIMIT ${limit} ${this.skipLocked}`;
    return this.lease(lease, sql`user_id IN (SELECT user_id FROM due)`, sql`WITH due AS (${due})`);
  }

  private async lease({ owner, until }: Lease, where: RawBuilder<unknown>, withDue = sql``) {
    const { rows } = await this.write<StoredUserTokens>`${withDue} UPDATE oncehook_user_tokens
      SET lease_owner = ${owner}, leased_until = ${until} WHERE ${where} RETURNING ${TOKEN_COLUMNS}`;
    return rows;
  }

  /** Corrects leases and times that a clock wrote which was set back since. */
  async repairTimes(leaseMs: number, now: Date): Promise<void> {
    await cutLeases(this.database, { table: TOKENS, where: sql`refresh_at <= ${now}` }, leaseMs, now);
    const times = { key: "userId", setAt: "updatedAt", times: ["expiresAt", "refreshAt"] };
    await bringForward(this.database, { table: TOKENS, where: sql`updated_at IS NOT NULL`, ...times }, now);
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
  async release(
    userId: string,
    owner: string,
    failed?: Pick<RefreshedTokens, "refreshAt"> & Pick<StoredUserTokens, "error">,
  ): Promise<void> {
    const changes = failed && { refreshAt: failed.refreshAt, error: storableText(failed.error) };
    await this.write`UPDATE oncehook_user_tokens SET ${changes ? sql`${assign(changes)}, ${NO_LEASE}` : NO_LEASE}
      WHERE user_id = ${userId} AND lease_owner = ${owner}`;
  }

  /** Returns false if the lease was lost or the user authorized again meanwhile. */
  async remove(userId: string, owner: string): Promise<boolean> {
    const { changes } = await this.write`DELETE FROM oncehook_user_tokens
      WHERE user_id = ${userId} AND lease_owner = ${owner}`;
    return changes > 0;
  }
}
