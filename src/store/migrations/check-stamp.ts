import { sql } from "kysely";
import { UNFINISHED_COPY } from "../copy.ts";
import { type Query, run } from "../database.ts";
import { writeSetting } from "../settings.ts";
import { MigrationError } from "../store-errors.ts";

/** A database belongs to one environment (SPEC 1.6), and to the key that encrypts its values. */
export interface Stamp {
  readonly environment: string;
  readonly keys: KeyStamp;
  /** Only `oncehook copy` may open a database whose copy has not finished. */
  readonly continuesCopy?: boolean;
}

/** The ids of the configured encryption keys; they reveal no key. */
export interface KeyStamp {
  readonly current: string;
  readonly previous: readonly string[];
  /** The operator confirms that the key before is lost, and the values that it encrypted. */
  readonly acceptNew?: boolean;
}

/**
 * Checks the stamp of the database and writes it, inside the transaction that migrates it: of two processes that start at once,
 * the second sees the stamp of the first.
 * @returns the base address that the database had before, so that the caller can warn about a change
 */
export async function checkStamp(query: Query, stamp: Stamp): Promise<string | undefined> {
  const settings = sql`SELECT name, value FROM oncehook_settings`;
  const { rows } = await run<{ name: string; value: string }>(query, settings);
  const stored = new Map(rows.map((row) => [row.name, row.value]));
  const environment = stored.get("environment");
  if (environment !== undefined && environment !== stamp.environment) {
    throw new MigrationError(
      `DATABASE_URL: this database belongs to the environment "${environment}", this process runs with ` +
        `APP_ENV=${stamp.environment}. Environments do not share a database: use another one, or set APP_ENV.`,
    );
  }
  if (stored.has(UNFINISHED_COPY) && stamp.continuesCopy !== true) throw new MigrationError(UNFINISHED);
  const { keys } = stamp;
  if (keys.acceptNew !== true && isWrongKey(stored.get("key_id"), keys)) {
    throw new MigrationError(`ENCRYPTION_KEY: ${WRONG_KEY}`);
  }
  await writeSetting(query, "environment", stamp.environment);
  await writeSetting(query, "key_id", keys.current);
  return stored.get("base_url");
}

export function isWrongKey(keyId: string | undefined, { current, previous }: KeyStamp): boolean {
  return keyId !== undefined && ![current, ...previous].includes(keyId);
}

const UNFINISHED =
  "DATABASE_URL: a copy into this database has not finished, so events of the source would be handled a second time. " +
  "Run the same `oncehook copy` again: it continues, and compares both databases at the end";

export const WRONG_KEY =
  "this database was last used with another key, which is not in ENCRYPTION_KEY_PREVIOUS either, so what is encrypted " +
  "in it could not be read. Set ENCRYPTION_KEY to that key; to change to a new one, set ENCRYPTION_KEY_PREVIOUS to that " +
  "key as well. Where it is lost, `oncehook migrate --accept-new-key` goes on without what it encrypted: users' tokens, " +
  "and events that wait for a retry";
