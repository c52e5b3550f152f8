import { sql } from "kysely";
import { createWindowLimit } from "../domain/index.ts";
import type { Database } from "./database.ts";
import { type Deadline, lookUpUntil } from "./retry-until.ts";

const REGISTERED = "oncehook_redirect_states";
const SPENT = "oncehook_spent_states";

/** A stranger can end flows too, each with a row: past so many in the time of a flow each new one takes an old one's place. */
const MOST_SPENT_STATES = 10_000;
const SPENT_FOR_MS = 600_000;
/** What one call deletes at the most, so that no callback waits long for the writer. */
const STEP = 100;

/** OAuth states, by hash, in SQL that both databases speak. */
export function redirectStateQueries({ read, write, hindrance }: Database): RedirectStateStore {
  // Counted by the process: the database would have to walk through all of them.
  const mayStay = createWindowLimit(MOST_SPENT_STATES, SPENT_FOR_MS);

  async function deleteSpent(now: Date): Promise<void> {
    const spent = sql.table(SPENT);
    await sql`DELETE FROM ${spent} WHERE state_sha256 IN (SELECT state_sha256 FROM ${spent}
      WHERE expires_at <= ${now.toISOString()} ORDER BY expires_at LIMIT ${sql.lit(STEP)})`.execute(write);
    if (mayStay(now)) return;
    await sql`DELETE FROM ${spent} WHERE state_sha256 IN (SELECT state_sha256 FROM ${spent}
      ORDER BY expires_at LIMIT 1)`.execute(write);
  }

  return {
    async register(stateSha256, expiresAt, now) {
      const values = {
        expires_at: expiresAt.toISOString(),
        created_at: now.toISOString(),
        sealed_flow: null,
      };
      await write
        .insertInto(REGISTERED)
        .values({ state_sha256: stateSha256, ...values })
        .onConflict((conflict) => conflict.column("state_sha256").doUpdateSet(values))
        .execute();
    },
    async isRegistered(stateSha256, now, deadline) {
      const found = read
        .selectFrom(REGISTERED)
        .select("state_sha256")
        .where("state_sha256", "=", stateSha256)
        .where("expires_at", ">", now.toISOString())
        // A flow that an earlier version started is bound to a browser, and not open to any.
        .where("sealed_flow", "is", null);
      return (await lookUpUntil(deadline, () => found.executeTakeFirst(), hindrance)) !== undefined;
    },
    async consume(stateSha256) {
      await write.deleteFrom(REGISTERED).where("state_sha256", "=", stateSha256).execute();
    },
    async spend(stateSha256, expiresAt, now) {
      await write
        .insertInto(SPENT)
        .values({ state_sha256: stateSha256, expires_at: expiresAt.toISOString() })
        .onConflict((conflict) => conflict.column("state_sha256").doNothing())
        .execute();
      await deleteSpent(now);
    },
    async isSpent(stateSha256, deadline) {
      const found = read.selectFrom(SPENT).select("state_sha256").where("state_sha256", "=", stateSha256);
      return (await lookUpUntil(deadline, () => found.executeTakeFirst(), hindrance)) !== undefined;
    },
  };
}

/** States of OAuth flows; only their hashes are kept. A flow that was started here has no row while it is under way. */
export interface RedirectStateStore {
  /** Expects a state of a flow that the platform starts. */
  register(stateSha256: string, expiresAt: Date, now: Date): Promise<void>;
  /** False when it was not registered, has expired or was consumed. @throws StoreError at the deadline, as `find` does */
  isRegistered(stateSha256: string, now: Date, deadline: Deadline): Promise<boolean>;
  /** Ends a registered flow without a code: its state is expected no more. */
  consume(stateSha256: string): Promise<void>;
  /**
   * Ends a flow that was started here. Deletes some of what has expired; past ten thousand in ten minutes each takes the
   * place of the one that expires first.
   */
  spend(stateSha256: string, expiresAt: Date, now: Date): Promise<void>;
  /** @throws StoreError at the deadline, as `find` does */
  isSpent(stateSha256: string, deadline: Deadline): Promise<boolean>;
}
