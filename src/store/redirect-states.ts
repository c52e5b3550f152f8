import { type RawBuilder, sql } from "kysely";
import { createWindowLimit } from "../domain/index.ts";
import { Area, insert } from "./database.ts";
import { type Deadline, lookUpUntil } from "./retry-until.ts";

/** A stranger can end flows too, each with a row: past so many in a flow's time each new row replaces the oldest. */
const MAX_SPENT_STATES = 10_000;
const SPENT_FOR_MS = 600_000;
/** Rows one call deletes at most, so that no callback waits long for the writer. */
const STEP = 100;

/** States of OAuth flows; only their hashes are kept. A flow that was started here has no row while it runs. */
export class RedirectStates extends Area {
  /** Counted by the process: the database would have to walk through all of them. */
  private readonly mayStay = createWindowLimit(MAX_SPENT_STATES, SPENT_FOR_MS);

  /** Expects a state of a flow that the platform starts. */
  async register(stateSha256: string, expiresAt: Date, now: Date): Promise<void> {
    await this.write`${insert("oncehook_redirect_states", { stateSha256, expiresAt, createdAt: now })}
      ON CONFLICT (state_sha256) DO UPDATE SET expires_at = excluded.expires_at, created_at = excluded.created_at`;
  }

  /**
   * Returns false if it was not registered, has expired or was consumed.
   * @throws StoreError at the deadline, as `find` does
   */
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

  /**
   * Ends a flow that was started here. Deletes some expired rows; past ten thousand in ten minutes each new row replaces the one
   * that expires first.
   */
  async spend(stateSha256: string, expiresAt: Date, now: Date): Promise<void> {
    await this.write`${insert("oncehook_spent_states", { stateSha256, expiresAt })}
      ON CONFLICT (state_sha256) DO NOTHING`;
    await this.write`DELETE FROM oncehook_spent_states WHERE state_sha256 IN (SELECT state_sha256
      FROM oncehook_spent_states WHERE expires_at <= ${now} ORDER BY expires_at LIMIT ${sql.lit(STEP)})`;
    if (this.mayStay(now)) return;
    await this.write`DELETE FROM oncehook_spent_states WHERE state_sha256 IN (SELECT state_sha256
      FROM oncehook_spent_states ORDER BY expires_at LIMIT 1)`;
  }

  /** @throws StoreError at the deadline, as `find` does */
  isSpent(stateSha256: string, deadline: Deadline): Promise<boolean> {
    return this.exists(
      sql`SELECT 1 FROM oncehook_spent_states WHERE state_sha256 = ${stateSha256}`,
      deadline,
    );
  }

  private async exists(look: RawBuilder<unknown>, deadline: Deadline): Promise<boolean> {
    const { read, transientReason } = this.database;
    return (await lookUpUntil(deadline, () => look.execute(read), transientReason)).rows.length > 0;
  }
}
