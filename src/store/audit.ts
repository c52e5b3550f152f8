import type { JsonObject } from "../domain/index.ts";
import { storableText } from "./column-values.ts";
import { Area, equal } from "./database.ts";
import { NEWEST, type Page } from "./paging.ts";
import type { Role } from "./sessions.ts";

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
  /** What it applies to, such as `platform/evt_1`. */
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

export interface AuditFilter {
  readonly action?: string;
  readonly actor?: string;
}

/** The audit log. An entry is written before the action and completed after it; one without an outcome was interrupted. */
export class Audit extends Area {
  /** Resolves with its id once it is written. */
  async begin(entry: NewAuditEntry): Promise<number> {
    const { at, actor, role, remoteAddress, action, target, outcome } = entry;
    const detail = entry.detail === null ? null : JSON.stringify(entry.detail);
    const { rows } = await this.write<{ id: number }>`
      INSERT INTO oncehook_audit (at, actor, role, remote_address, action, target, detail, outcome)
      VALUES (${at}, ${storableText(actor)}, ${role}, ${storableText(remoteAddress)}, ${action}, ${storableText(target)},
        ${detail}, ${outcome}) RETURNING id`;
    return Number(rows[0]?.id);
  }

  async end(id: number, outcome: AuditOutcome): Promise<void> {
    await this.write`UPDATE oncehook_audit SET outcome = ${outcome} WHERE id = ${id}`;
  }

  /** Newest first. */
  async list({ limit, before = NEWEST }: Page, { action, actor }: AuditFilter): Promise<StoredAuditEntry[]> {
    const rows = await this.read<StoredAuditEntry & { readonly detail: string | null }>`
      SELECT id, at AS timestamp, actor, role, remote_address, action, target, detail, outcome FROM oncehook_audit
      WHERE id < ${before} AND ${equal({ action, actor })} ORDER BY id DESC LIMIT ${limit}`;
    return rows.map((row) => ({ ...row, detail: row.detail === null ? null : JSON.parse(row.detail) }));
  }
}
