import { sql } from "kysely";
import { createWindowLimit } from "../domain/index.ts";
import { Area } from "./database.ts";
import { type Deadline, lookUpUntil } from "./retry-until.ts";

const REGISTERED = "oncehook_redirect_states";
const SPENT = "oncehook_spent_states";

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
    const values = { expires_at: expiresAt.toISOString(), created_at: now.toISOString() };
    await this.database.write
      .insertInto(REGISTERED)
      .values({ state_sha256: stateSha256, ...values })
      .onConflict((conflict) => conflict.column("state_sha256").doUpdateSet(values))
      .execute();
  }

  /**
   * Returns false if it was not registered, has expired or was consumed.
   * @throws StoreError at the deadline, as `find` does
   */
  async isRegistered(stateSha256: string, now: Date, deadline: Deadline): Promise<boolean> {
    const { read, transientReason } = this.database;
    const found = read
      .selectFrom(REGISTERED)
      .select("state_sha256")
      .where("state_sha256", "=", stateSha256)
      .where("expires_at", ">", now.toISOString());
    return (await lookUpUntil(deadline, () => found.executeTakeFirst(), transientReason)) !== undefined;
  }

  /** Ends a registered flow without a code: its state is no longer expected. */
  async consume(stateSha256: string): Promise<void> {
    await this.database.write.deleteFrom(REGISTERED).where("state_sha256", "=", stateSha256).execute();
  }

  /**
   * Ends a flow that was started here. Deletes some expired rows; past ten thousand in ten minutes each new row replaces the one
   * that expires first.
   */
  async spend(stateSha256: string, expiresAt: Date, now: Date): Promise<void> {
    const { write } = this.database;
    await write
      .insertInto(SPENT)
      .values({ state_sha256: stateSha256, expires_at: expiresAt.toISOString() })
      .onConflict((conflict) => conflict.column("state_sha256").doNothing())
      .execute();
    const spent = sql.table(SPENT);
    await sql`DELETE FROM ${spent} WHERE state_sha256 IN (SELECT state_sha256 FROM ${spent}
      WHERE expires_at <= ${now.toISOString()} ORDER BY expires_at LIMIT ${sql.lit(STEP)})`.execute(write);
    if (this.mayStay(now)) return;
    await sql`DELETE FROM ${spent} WHERE state_sha256 IN (SELECT state_sha256 FROM ${spent}
      ORDER BY expires_at LIMIT 1)`.execute(write);
  }

  /** @throws StoreError at the deadline, as `find` does */
  async isSpent(stateSha256: string, deadline: Deadline): Promise<boolean> {
    const { read, transientReason } = this.database;
    const found = read.selectFrom(SPENT).select("state_sha256").where("state_sha256", "=", stateSha256);
    return (await lookUpUntil(deadline, () => found.executeTakeFirst(), transientReason)) !== undefined;
  }
}
