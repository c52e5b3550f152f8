import type { CheckedInvariant } from "./invariants.ts";

/** What tells one database from another, for a person who has several. */
export interface Contents {
  /** Which `APP_ENV` it belongs to. */
  readonly environment: string | null;
  /** How many events it knows. */
  readonly records: number;
  /** When the newest of them came, in ISO 8601. */
  readonly newestRecordAt: string | null;
}

/** A database that was held against its invariants. */
export interface CheckedDatabase {
  /** Undefined where nothing can be read any more. */
  readonly contents: Contents | undefined;
  readonly invariants: readonly CheckedInvariant[];
}

/** One row; the same text for both databases. */
export const SELECT_CONTENTS = `SELECT
  (SELECT value FROM oncehook_settings WHERE name = 'environment') AS environment,
  (SELECT count(*) FROM oncehook_records) AS records,
  (SELECT created_at FROM oncehook_records ORDER BY id DESC LIMIT 1) AS newest`;

export function toContents(row: Readonly<Record<string, unknown>>): Contents {
  const { environment, records, newest } = row;
  return {
    environment: environment === null ? null : String(environment),
    records: Number(records),
    newestRecordAt: newest === null ? null : new Date(newest as string | Date).toISOString(),
  };
}
