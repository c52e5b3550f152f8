import type { Selectable } from "kysely";
import type { JsonObject } from "../domain/index.ts";
import { isoTime, storableText } from "./column-values.ts";
import { Area } from "./database.ts";
import type { Page } from "./paging.ts";
import type { Role } from "./sessions.ts";
import type { AuditRow } from "./tables.ts";

/** `refused`: the action was not carried out. `failed`: see the log for what happened. */
export type AuditOutcome = NonNullable<AuditRow["outcome"]>;

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

const TABLE = "oncehook_audit";

/** The audit log. An entry is written before the action and completed after it; one without an outcome was interrupted. */
export class Audit extends Area {
  /** Resolves with its id once it is written. */
  async begin(entry: NewAuditEntry): Promise<number> {
    const row = await this.database.write
      .insertInto(TABLE)
      .values(valuesOf(entry))
      .returning("id")
      .executeTakeFirstOrThrow();
    return Number(row.id);
  }

  async end(id: number, outcome: AuditOutcome): Promise<void> {
    await this.database.write.updateTable(TABLE).set({ outcome }).where("id", "=", id).execute();
  }

  /** Newest first. */
  async list(page: Page, filter: AuditFilter): Promise<StoredAuditEntry[]> {
    let query = this.database.read.selectFrom(TABLE).selectAll().orderBy("id", "desc").limit(page.limit);
    if (page.before !== undefined) query = query.where("id", "<", page.before);
    if (filter.action !== undefined) query = query.where("action", "=", filter.action);
    if (filter.actor !== undefined) query = query.where("actor", "=", filter.actor);
    return (await query.execute()).map(toEntry);
  }
}

function valuesOf({ at, actor, role, remoteAddress, action, target, detail, outcome }: NewAuditEntry) {
  return {
    at: at.toISOString(),
    actor: actor === null ? null : storableText(actor),
    role,
    remote_address: storableText(remoteAddress),
    action,
    target: target === null ? null : storableText(target),
    detail: detail === null ? null : JSON.stringify(detail),
    outcome,
  };
}

function toEntry(row: Selectable<AuditRow>): StoredAuditEntry {
  return {
    id: Number(row.id),
    timestamp: isoTime(row.at),
    actor: row.actor,
    role: row.role,
    remoteAddress: row.remote_address,
    action: row.action,
    target: row.target,
    detail: row.detail === null ? null : JSON.parse(row.detail),
    outcome: row.outcome,
  };
}
