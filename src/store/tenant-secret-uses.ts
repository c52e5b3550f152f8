import { sql } from "kysely";
import { Area, equal, rowList } from "./database.ts";
import { NEWEST, type Page } from "./paging.ts";

/** A secret of a tenant was accepted: the current one, or one that is being rotated out. */
export interface TenantSecretUse {
  readonly source: string;
  readonly tenant: string;
  readonly isPrevious: boolean;
}

/** When the secrets of a tenant were accepted last, in ISO 8601; null where that was never. */
export interface StoredTenantUses {
  readonly id: number;
  readonly tenant: string;
  readonly currentUsedAt: string | null;
  readonly previousUsedAt: string | null;
}

/** One row for each tenant whose callbacks were authentic. The secrets themselves are known to the source's function alone. */
export class TenantSecretUses extends Area {
  /** All of them in one statement. */
  async note(uses: readonly TenantSecretUse[], now: Date): Promise<void> {
    if (uses.length === 0) return;
    const columns = {
      source: "text",
      tenant: "text",
      current_used_at: "timestamptz",
      previous_used_at: "timestamptz",
      last_used_at: "timestamptz",
    } as const;
    const tenants = Map.groupBy(uses, ({ source, tenant }) => `${source}/${tenant}`);
    const rows = [...tenants.values()].map((own) => ({
      source: own[0]?.source,
      tenant: own[0]?.tenant,
      current_used_at: own.some(({ isPrevious }) => !isPrevious) ? now : null,
      previous_used_at: own.some(({ isPrevious }) => isPrevious) ? now : null,
      last_used_at: now,
    }));
    // One order for all processes prevents deadlocks. Without WHERE SQLite would read ON as part of a join.
    await this.write`INSERT INTO oncehook_tenant_secret_uses AS stored
        (source, tenant, current_used_at, previous_used_at, last_used_at)
      SELECT g.source, g.tenant, g.current_used_at, g.previous_used_at, g.last_used_at
      FROM ${rowList(this.database.dialect, columns, rows)} AS g WHERE true ORDER BY g.source, g.tenant
      ON CONFLICT (source, tenant) DO UPDATE SET
        current_used_at = coalesce(excluded.current_used_at, stored.current_used_at),
        previous_used_at = coalesce(excluded.previous_used_at, stored.previous_used_at),
        last_used_at = excluded.last_used_at`;
  }

  /** The tenants of a source, the one that was first seen last at the head. @param of.tenant of this one alone */
  list(
    of: { readonly source: string; readonly tenant?: string | undefined },
    { before = NEWEST, limit }: Page,
  ): Promise<readonly StoredTenantUses[]> {
    return this.read`SELECT id, tenant, current_used_at, previous_used_at FROM oncehook_tenant_secret_uses
      WHERE ${equal({ source: of.source, tenant: of.tenant })} AND id < ${before} ORDER BY id DESC LIMIT ${sql.lit(limit)}`;
  }
}
