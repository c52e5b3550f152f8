import { sql } from "kysely";
import type { Database } from "./database.ts";
import { type StoredCredentialUse, toStoredCredentialUse } from "./inspection.ts";

const TABLE = "oncehook_credential_uses";

export async function noteCredential({ write }: Database, use: CredentialUse, now: Date): Promise<void> {
  const last_used_at = now.toISOString();
  await write
    .insertInto(TABLE)
    .values({ ...use, previous_since: null, last_used_at })
    .onConflict((conflict) => conflict.columns(["method", "fingerprint"]).doUpdateSet({ last_used_at }))
    .execute();
}

/** A secret that is previous at one start after another stays so since the first; as the current one it is not. */
export async function noteConfiguredCredentials(
  { write }: Database,
  credentials: readonly ConfiguredCredential[],
  now: Date,
): Promise<void> {
  for (const { method, fingerprint, isPrevious } of credentials) {
    const previous_since = isPrevious ? now.toISOString() : null;
    const since = sql<string>`coalesce(${sql.ref(`${TABLE}.previous_since`)}, excluded.previous_since)`;
    await write
      .insertInto(TABLE)
      .values({ method, fingerprint, previous_since, last_used_at: null })
      .onConflict((conflict) =>
        conflict
          .columns(["method", "fingerprint"])
          .doUpdateSet({ previous_since: isPrevious ? since : null }),
      )
      .execute();
  }
}

export async function credentialUses(
  { read }: Database,
  credentials: readonly CredentialUse[],
): Promise<StoredCredentialUse[]> {
  if (credentials.length === 0) return [];
  const rows = await read
    .selectFrom(TABLE)
    .select(["method", "fingerprint", "previous_since", "last_used_at"])
    .where(({ or, and, eb }) =>
      or(
        credentials.map(({ method, fingerprint }) =>
          and([eb("method", "=", method), eb("fingerprint", "=", fingerprint)]),
        ),
      ),
    )
    .execute();
  return rows.map(toStoredCredentialUse);
}

/** A secret by its method and keyed fingerprint, whatever place it has in the configuration. */
export interface CredentialUse {
  readonly method: string;
  readonly fingerprint: string;
}

export interface ConfiguredCredential extends CredentialUse {
  /** Whether it is on its way out. */
  readonly isPrevious: boolean;
}
