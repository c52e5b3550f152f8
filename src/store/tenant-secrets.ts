import { Area } from "./database.ts";

export interface TenantSecretClaim {
  readonly source: string;
  /** Keyed, so that a leaked database does not allow guessing the secret. */
  readonly fingerprint: string;
  readonly tenant: string;
  /** The stored tenant that no longer has the secret. */
  readonly lostBy?: string | undefined;
}

/** A row says at most this late that its secret is in use: a start with thousands of tenants writes few rows. */
const SEEN_EVERY_MS = 86_400_000;

/** The first tenant that each secret has verified, for all processes. Authentic callbacks alone add rows. */
export class TenantSecrets extends Area {
  /** @returns the tenant that the secret is of: the one that was first, until it has lost it */
  async claim({ source, fingerprint, tenant, lostBy }: TenantSecretClaim, now: Date): Promise<string> {
    const seen = new Date(now.getTime() - SEEN_EVERY_MS);
    if (lostBy === undefined) {
      const [stored] = await this.read<{ tenant: string }>`SELECT tenant FROM oncehook_tenant_secrets
        WHERE source = ${source} AND fingerprint = ${fingerprint} AND seen_at > ${seen}`;
      if (stored !== undefined) return stored.tenant;
    }
    const { rows } = await this.write<{ tenant: string }>`INSERT INTO oncehook_tenant_secrets AS stored
        (source, fingerprint, tenant, seen_at) VALUES (${source}, ${fingerprint}, ${tenant}, ${now})
      ON CONFLICT (source, fingerprint) DO UPDATE SET seen_at = excluded.seen_at,
        tenant = CASE WHEN stored.tenant = ${lostBy ?? ""} THEN excluded.tenant ELSE stored.tenant END
      RETURNING tenant`;
    return rows[0]?.tenant ?? tenant;
  }
}
