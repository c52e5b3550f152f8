import { sql } from "kysely";
import type { JsonObject } from "../../domain/index.ts";
import { Area, equal, type IdRow, insert, storableText } from "../database.ts";
import { CLOCK_TOLERANCE_MS } from "./lease.ts";
import { boundedSearch, type SearchPage, type SearchResult, type SearchStep } from "./paging.ts";

/** `viewer` may look, `operator` may also change things. */
export type Role = "viewer" | "operator";

/** A signed-in user of the admin listener. */
export interface StoredSession {
  /** `token`, a mail address, or `sub:` and the subject at the provider. */
  readonly actor: string;
  readonly role: Role;
  /** A fingerprint of the credential that started it: the session ends with that credential. */
  readonly credentialFingerprint: string;
  readonly startedAt: Date;
  readonly expiresAt: Date;
}

/**
 * Sessions of operators, in the database, since the next request may reach another process. A row holds only the SHA-256 of a
 * session's id, in lowercase hex: reading the database opens no session.
 */
export class Sessions extends Area {
  async create(idSha256: string, session: StoredSession): Promise<void> {
    const row = { idSha256, ...session, actor: storableText(session.actor) };
    await this.write`${insert("oncehook_sessions", row)}`;
  }

  /** Undefined where there is none, or it has expired. */
  async find(idSha256: string, now: Date): Promise<StoredSession | undefined> {
    const [row] = await this.read<StoredSession>`SELECT actor, role, credential_fingerprint, started_at, expires_at
      FROM oncehook_sessions WHERE id_sha256 = ${idSha256} AND expires_at > ${now}`;
    return row && { ...row, startedAt: new Date(row.startedAt), expiresAt: new Date(row.expiresAt) };
  }

  async among(idsSha256: readonly string[], now: Date): Promise<ReadonlySet<string>> {
    if (idsSha256.length === 0) return new Set();
    const rows = await this.read<{ idSha256: string }>`SELECT id_sha256 FROM oncehook_sessions
      WHERE id_sha256 IN (${sql.join(idsSha256)}) AND expires_at > ${now}`;
    return new Set(rows.map((row) => row.idSha256));
  }

  async end(idSha256: string): Promise<void> {
    await this.write`DELETE FROM oncehook_sessions WHERE id_sha256 = ${idSha256}`;
  }
}

/** `refused`: the action was not carried out. `failed`: see the log for what happened. */
export type AuditOutcome = "done" | "refused" | "failed";

export interface NewAuditEntry {
  readonly at: Date;
  /** Null if unauthenticated. */
  readonly actor: string | null;
  readonly role: Role | null;
  readonly remoteAddress: string;
  /** Such as `failure.replay`. */
  readonly action: string;
  /** Such as `platform/evt_1`. */
  readonly target: string | null;
  /** Holds no secret. */
  readonly detail: JsonObject | null;
  /** Null while the action runs. */
  readonly outcome: AuditOutcome | null;
}

export interface StoredAuditEntry extends Omit<NewAuditEntry, "at"> {
  readonly id: number;
  /** ISO 8601. */
  readonly timestamp: string;
}

type AuditRow = StoredAuditEntry & { readonly detail: string | null };

export interface AuditFilter {
  readonly action?: string | undefined;
  readonly actor?: string | undefined;
}

/** The audit log. An entry is written before the action and completed after it; one without an outcome was interrupted. */
export class Audit extends Area {
  /** Resolves with its id once it is written. */
  async begin(entry: NewAuditEntry): Promise<number> {
    const row = {
      ...entry,
      actor: storableText(entry.actor),
      remoteAddress: storableText(entry.remoteAddress),
      target: storableText(entry.target),
      detail: entry.detail === null ? null : JSON.stringify(entry.detail),
    };
    const { rows } = await this.write<{ id: number }>`${insert("oncehook_audit", row)} RETURNING id`;
    return Number(rows[0]?.id);
  }

  /** @param target of the thing that the action has made; null leaves the entry's own */
  async end(id: number, outcome: AuditOutcome, target: string | null = null): Promise<void> {
    await this.write`UPDATE oncehook_audit SET outcome = ${outcome}, target = coalesce(${target}, target)
      WHERE id = ${id}`;
  }

  /** Newest first. One filter has its index; both have none together, so that they are searched for within the time budget. */
  async search(filter: AuditFilter, page: SearchPage): Promise<SearchResult<StoredAuditEntry>> {
    const isWalk = filter.action !== undefined && filter.actor !== undefined;
    const searchStep: SearchStep<AuditRow> = async (below, step, limit) => {
      const [end] = isWalk
        ? await this
            .read<IdRow>`SELECT id FROM oncehook_audit WHERE id < ${below} ORDER BY id DESC LIMIT 1 OFFSET ${step - 1}`
        : [];
      const rows = await this.read<AuditRow>`
        SELECT id, at AS timestamp, actor, role, remote_address, action, target, detail, outcome FROM oncehook_audit
        WHERE id < ${below} AND id >= ${end?.id ?? 0} AND ${equal({ ...filter })} ORDER BY id DESC LIMIT ${limit}`;
      return { rows, reached: end?.id };
    };
    const { rows, next } = await boundedSearch(this.database.dialect, page, searchStep);
    return { rows: rows.map((row) => ({ ...row, detail: row.detail === null ? null : JSON.parse(row.detail) })), next };
  }
}

/** A secret by its method and keyed fingerprint, whatever place it has in the configuration. */
export interface CredentialUse {
  readonly method: string;
  readonly fingerprint: string;
}

/** When a secret was accepted, and since when it has been a previous one, in ISO 8601; null for never. */
export interface StoredCredentialUse extends CredentialUse {
  readonly previousSince: string | null;
  readonly lastUsedAt: string | null;
}

/** When each configured secret was accepted last, so that an operator sees when a previous one can be retired. */
export class CredentialUses extends Area {
  async note({ method, fingerprint }: CredentialUse, now: Date): Promise<void> {
    await this.write`${insert("oncehook_credential_uses", { method, fingerprint, lastUsedAt: now })}
      ON CONFLICT (method, fingerprint) DO UPDATE SET last_used_at = excluded.last_used_at`;
  }

  /** Notes since when each secret has been a previous one, without a break; a current one is none. */
  async noteConfigured(credentials: readonly (CredentialUse & { isPrevious: boolean })[], now: Date): Promise<void> {
    for (const { method, fingerprint, isPrevious } of credentials) {
      const since = isPrevious ? sql`coalesce(stored.previous_since, excluded.previous_since)` : null;
      await this.write`INSERT INTO oncehook_credential_uses AS stored (method, fingerprint, previous_since)
        VALUES (${method}, ${fingerprint}, ${isPrevious ? now : null})
        ON CONFLICT (method, fingerprint) DO UPDATE SET previous_since = ${since}`;
    }
  }

  /** The uses of these secrets, else of all; one that was never accepted nor previous may be absent. */
  async list(credentials?: readonly CredentialUse[]): Promise<readonly StoredCredentialUse[]> {
    if (credentials?.length === 0) return [];
    const secrets = credentials?.map(({ method, fingerprint }) => sql`(${method}, ${fingerprint})`);
    return this.read`SELECT method, fingerprint, previous_since, last_used_at FROM oncehook_credential_uses
      WHERE ${secrets ? sql`(method, fingerprint) IN (VALUES ${sql.join(secrets)})` : sql`true`}`;
  }
}

export interface RateCount {
  readonly points: number;
  readonly resetAt: Date;
}

export class RateCounters extends Area {
  /**
   * Counts one hit in the key's current window and returns the count. One statement counts and starts a new window, so that no
   * hit is lost. A window that ends too late was started before the clock was set back, and counts as over.
   */
  async hit(key: string, windowMs: number, now: Date): Promise<RateCount> {
    const at = now.getTime();
    const latest = at + windowMs + CLOCK_TOLERANCE_MS;
    const isOver = sql`(c.reset_at_ms <= ${at} OR c.reset_at_ms > ${latest})`;
    const { rows } = await this.write<{ points: number; resetAtMs: number }>`
      INSERT INTO oncehook_rate_counters AS c (key, points, reset_at_ms) VALUES (${key}, 1, ${at + windowMs})
      ON CONFLICT (key) DO UPDATE SET
        points = CASE WHEN ${isOver} THEN 1 ELSE c.points + 1 END,
        reset_at_ms = CASE WHEN ${isOver} THEN excluded.reset_at_ms ELSE c.reset_at_ms END
      RETURNING points, reset_at_ms`;
    return { points: Number(rows[0]?.points), resetAt: new Date(Number(rows[0]?.resetAtMs)) };
  }
}
