import { sql } from "kysely";
import { Area, equal, rowList } from "../database.ts";
import { NEWEST, type Page } from "./paging.ts";

export interface TenantSecretClaim {
  readonly source: string;
  /** Keyed, so that a leaked database does not allow guessing the secret. */
  readonly fingerprint: string;
  readonly tenant: string;
  /** The stored tenant that no longer has the secret. */
  readonly lostBy?: string | undefined;
}

/** A row says at most this late that its secret is in use. A start with thousands of tenants writes few rows. */
const SEEN_EVERY_MS = 86_400_000;

/** The first tenant that each secret has verified, for all processes. Only authentic callbacks add rows. */
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

/** One row for each tenant whose callbacks were authentic. Only the source's function knows the secrets. */
export class TenantSecretUses extends Area {
  async note(uses: readonly TenantSecretUse[], now: Date): Promise<void> {
    if (uses.length === 0) return;
    const columns = { source: "text", tenant: "text", current: "timestamptz", previous: "timestamptz" } as const;
    const tenants = Map.groupBy(uses, ({ source, tenant }) => `${source}/${tenant}`);
    const rows = [...tenants.values()].map((own) => ({
      source: own[0]?.source,
      tenant: own[0]?.tenant,
      current: own.some(({ isPrevious }) => !isPrevious) ? now : null,
      previous: own.some(({ isPrevious }) => isPrevious) ? now : null,
    }));
    // One order for all processes prevents deadlocks. Without WHERE SQLite would read ON as part of a join.
    await this.write`INSERT INTO oncehook_tenant_secret_uses AS stored
        (source, tenant, current_used_at, previous_used_at, last_used_at)
      SELECT g.source, g.tenant, g.current, g.previous, coalesce(g.current, g.previous)
      FROM ${rowList(this.database.dialect, columns, rows)} AS g WHERE true ORDER BY g.source, g.tenant
      ON CONFLICT (source, tenant) DO UPDATE SET
        current_used_at = coalesce(excluded.current_used_at, stored.current_used_at),
        previous_used_at = coalesce(excluded.previous_used_at, stored.previous_used_at),
        last_used_at = excluded.last_used_at`;
  }

  /** The tenants of a source, newest first. @param of.tenant only this one */
  list(of: { source: string; tenant?: string | undefined }, { before = NEWEST, limit }: Page) {
    return this.read<StoredTenantUses>`SELECT id, tenant, current_used_at, previous_used_at
      FROM oncehook_tenant_secret_uses WHERE ${equal(of)} AND id < ${before} ORDER BY id DESC LIMIT ${sql.lit(limit)}`;
  }
}

export type EncryptedKind = "failure" | "preparation" | "user_tokens" | "source_secret" | "original";

export interface EncryptedValue {
  /** The columns of its primary key: event id and source, a user's id, source and fingerprint, or a row's id. */
  readonly key: readonly string[];
  readonly encrypted: Uint8Array;
}

const COLUMNS: Record<EncryptedKind, { table: string; column: string; key: readonly string[] }> = {
  failure: { table: "oncehook_failures", column: "encrypted_body", key: ["event_id", "source"] },
  preparation: { table: "oncehook_preparations", column: "encrypted_result", key: ["event_id", "source"] },
  user_tokens: { table: "oncehook_user_tokens", column: "encrypted_tokens", key: ["user_id"] },
  source_secret: { table: "oncehook_source_secrets", column: "encrypted_secret", key: ["source", "fingerprint"] },
  original: { table: "oncehook_originals", column: "encrypted_block", key: ["id"] },
};

/** Before the first key: no text is empty, and ids begin at 1. */
const beforeFirst = (name: string) => (name === "id" ? 0 : "");

/** Encrypted values of every table, for the rotation of their key. */
export class EncryptedValues extends Area {
  /** The next ones in the order of their keys. */
  async page(kind: EncryptedKind, after: EncryptedValue["key"] | undefined, limit: number): Promise<EncryptedValue[]> {
    const { table, column, key } = COLUMNS[kind];
    const columns = sql.join(key.map((name) => sql.ref(name)));
    // The first page begins like every other, in the index.
    const start = sql.join(after ?? key.map(beforeFirst));
    const rows = await this.read<{ encrypted: Uint8Array }>`
      SELECT ${columns}, ${sql.ref(column)} AS encrypted FROM ${sql.table(table)}
      WHERE (${columns}) > (${start}) AND ${sql.ref(column)} IS NOT NULL ORDER BY ${columns} LIMIT ${limit}`;
    return rows.map(({ encrypted, ...keys }) => ({ key: Object.values(keys).map(String), encrypted }));
  }

  /** Returns false if it was changed or deleted meanwhile. */
  async replace(kind: EncryptedKind, value: EncryptedValue, encrypted: Uint8Array): Promise<boolean> {
    const { table, column, key } = COLUMNS[kind];
    const columns = sql.join(key.map((name) => sql.ref(name)));
    const { changes } = await this.write`
      UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${encrypted}
      WHERE (${columns}) = (${sql.join([...value.key])}) AND ${sql.ref(column)} = ${value.encrypted}`;
    return changes > 0;
  }
}
