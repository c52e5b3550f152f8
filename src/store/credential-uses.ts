import { sql } from "kysely";
import { Area } from "./database.ts";
import { type StoredCredentialUse, toStoredCredentialUse } from "./inspection.ts";

/** A secret by its method and keyed fingerprint, whatever place it has in the configuration. */
export interface CredentialUse {
  readonly method: string;
  readonly fingerprint: string;
}

export interface ConfiguredCredential extends CredentialUse {
  /** Whether another one has replaced it. */
  readonly isPrevious: boolean;
}

const TABLE = "oncehook_credential_uses";

/** When each configured secret was accepted last, so that an operator sees when a previous one can be retired. */
export class CredentialUses extends Area {
  /** Notes that a secret was accepted. */
  async note(use: CredentialUse, now: Date): Promise<void> {
    const last_used_at = now.toISOString();
    await this.database.write
      .insertInto(TABLE)
      .values({ ...use, previous_since: null, last_used_at })
      .onConflict((conflict) => conflict.columns(["method", "fingerprint"]).doUpdateSet({ last_used_at }))
      .execute();
  }

  /** Notes since when each secret has been a previous one, without a break; a current one is none. */
  async noteConfigured(credentials: readonly ConfiguredCredential[], now: Date): Promise<void> {
    for (const { method, fingerprint, isPrevious } of credentials) {
      const previous_since = isPrevious ? now.toISOString() : null;
      const since = sql<string>`coalesce(${sql.ref(`${TABLE}.previous_since`)}, excluded.previous_since)`;
      await this.database.write
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

  /** The uses of these secrets; one that was never accepted nor previous may be absent. */
  async list(credentials: readonly CredentialUse[]): Promise<StoredCredentialUse[]> {
    if (credentials.length === 0) return [];
    const rows = await this.database.read
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
}
