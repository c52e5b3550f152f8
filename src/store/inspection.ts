import { type Diagnosis, storedDiagnosis } from "../domain/index.ts";

/** What to look at, besides the service's own tables. */
export interface InspectOptions {
  /** PostgreSQL: the schema of its tables. */
  readonly schema?: string | undefined;
  /** Names of tables that handlers would make. */
  readonly tables?: readonly string[];
}

/** What a look at a database found; nothing is changed by it. */
export type Inspection = {
  /** Which of the tables asked for are there, in the place where they would be made. */
  readonly tables: readonly string[];
} /** The database, or this service's tables in it, do not exist yet; the first start makes them. */ & (
  | { readonly exists: false }
  | {
      readonly exists: true;
      /** The names of the handlers' migrations that were applied. */
      readonly handlerMigrations: readonly string[];
      readonly schema: number;
      readonly environment: string | undefined;
      readonly baseUrl: string | undefined;
      /** The id of the encryption key it was last used with. */
      readonly keyId: string | undefined;
      readonly durabilityWarnings: readonly string[];
      readonly credentialUses: readonly StoredCredentialUse[];
      /** How many deliveries of notifications wait, by channel. */
      readonly waitingByChannel: ReadonlyMap<string, number>;
      /** Why callbacks were not authentic, of the newest rows of the log; the newest first. */
      readonly diagnoses: readonly Diagnosis[];
    }
);

export const SELECT_HANDLER_MIGRATIONS = "SELECT name FROM oncehook_own_migrations";

/** When a secret was accepted, and since when it has been a previous one, in ISO 8601; null for never. */
export interface StoredCredentialUse {
  readonly method: string;
  readonly fingerprint: string;
  readonly previousSince: string | null;
  readonly lastUsedAt: string | null;
}

export const SELECT_USES =
  "SELECT method, fingerprint, previous_since, last_used_at FROM oncehook_credential_uses";

export const COUNT_WAITING =
  "SELECT channel, count(*) AS waiting FROM oncehook_deliveries WHERE state = 'waiting' GROUP BY channel ORDER BY channel";

/** The step of the schema that brought the column. */
export const FIRST_SCHEMA_WITH_DIAGNOSES = 7;

export const SELECT_DIAGNOSES = `SELECT diagnosis FROM
  (SELECT id, diagnosis FROM oncehook_callbacks ORDER BY id DESC LIMIT 1000) AS newest
  WHERE diagnosis IS NOT NULL ORDER BY id DESC`;

export function toDiagnosis(row: Readonly<Record<string, unknown>>): Diagnosis {
  return storedDiagnosis(String(row.diagnosis));
}

export function toWaitingByChannel(rows: readonly Readonly<Record<string, unknown>>[]): Map<string, number> {
  return new Map(rows.map((row) => [String(row.channel), Number(row.waiting)]));
}

export function toStoredCredentialUse(row: Readonly<Record<string, unknown>>): StoredCredentialUse {
  const time = (value: unknown) => {
    if (value === null || value === undefined) return null;
    return value instanceof Date ? value.toISOString() : String(value);
  };
  return {
    method: String(row.method),
    fingerprint: String(row.fingerprint),
    previousSince: time(row.previous_since),
    lastUsedAt: time(row.last_used_at),
  };
}
