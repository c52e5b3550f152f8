import { sql } from "kysely";
import { Area, insert } from "./database.ts";
import type { StoredCredentialUse } from "./inspection.ts";

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
  async note({ method, fingerprint }: CredentialUse, now: Date): Promise<void> {
    await this.write`${insert(TABLE, { method, fingerprint, lastUsedAt: now })}
      ON CONFLICT (method, fingerprint) DO UPDATE SET last_used_at = excluded.last_used_at`;
  }

  /** Notes since when each secret has been a previous one, without a break; a current one is none. */
  async noteConfigured(credentials: readonly ConfiguredCredential[], now: Date): Promise<void> {
    for (const { method, fingerprint, isPrevious } of credentials) {
      const since = isPrevious ? sql`coalesce(stored.previous_since, excluded.previous_since)` : null;
      await this.write`INSERT INTO oncehook_credential_uses AS stored (method, fingerprint, previous_since)
        VALUES (${method}, ${fingerprint}, ${isPrevious ? now : null})
        ON CONFLICT (method, fingerprint) DO UPDATE SET previous_since = ${since}`;
    }
  }

  /** The uses of these secrets; one that was never accepted nor previous may be absent. */
  async list(credentials: readonly CredentialUse[]): Promise<readonly StoredCredentialUse[]> {
    if (credentials.length === 0) return [];
    const secrets = credentials.map(({ method, fingerprint }) => sql`(${method}, ${fingerprint})`);
    return this.read`SELECT method, fingerprint, previous_since, last_used_at FROM oncehook_credential_uses
      WHERE (method, fingerprint) IN (VALUES ${sql.join(secrets)})`;
  }
}
