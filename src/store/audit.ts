import type { Selectable } from "kysely";
import type { JsonObject } from "../domain/index.ts";
import { isoTime, storableText } from "./column-values.ts";
import type { Database } from "./database.ts";
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
  /** What it is done to, such as `platform/evt_1`. */
  readonly target: string | null;
  /** Nothing in it is secret. */
  readonly detail: JsonObject | null;
  /** Null while it is under way. */
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

/** The audit log: an entry is written before the action and completed after it. One without an outcome was interrupted. */
export interface AuditStore {
  /** Resolves with its id once it is written. */
  begin(entry: NewAuditEntry): Promise<number>;
  end(id: number, outcome: AuditOutcome): Promise<void>;
  /** Newest first. */
  list(page: Page, filter: AuditFilter): Promise<StoredAuditEntry[]>;
}

const TABLE = "oncehook_audit";

/** The entries of `AuditStore`, in SQL that both databases speak. */
export function auditQueries({ read, write }: Database): AuditStore {
  return {
    async begin(entry) {
      const row = await write
        .insertInto(TABLE)
        .values(valuesOf(entry))
        .returning("id")
        .executeTakeFirstOrThrow();
      return Number(row.id);
    },
    async end(id, outcome) {
      await write.updateTable(TABLE).set({ outcome }).where("id", "=", id).execute();
    },
    list: (page, filter) => list(read, page, filter),
  };
}

function valuesOf({ at, actor, role, remoteAddress, action, target, detail, outcome }: NewAuditEntry) {
  return {
    at: at.toISOString(),
    who: actor === null ? null : storableText(actor),
    role,
    remote_address: storableText(remoteAddress),
    action,
    subject: target === null ? null : storableText(target),
    detail: detail === null ? null : JSON.stringify(detail),
    outcome,
  };
}

async function list(read: Database["read"], page: Page, filter: AuditFilter): Promise<StoredAuditEntry[]> {
  let query = read.selectFrom(TABLE).selectAll().orderBy("id", "desc").limit(page.limit);
  if (page.before !== undefined) query = query.where("id", "<", page.before);
  if (filter.action !== undefined) query = query.where("action", "=", filter.action);
  if (filter.actor !== undefined) query = query.where("who", "=", filter.actor);
  return (await query.execute()).map(toEntry);
}

function toEntry(row: Selectable<AuditRow>): StoredAuditEntry {
  return {
    id: Number(row.id),
    timestamp: isoTime(row.at),
    actor: row.who,
    role: row.role,
    remoteAddress: row.remote_address,
    action: row.action,
    target: row.subject,
    detail: row.detail === null ? null : JSON.parse(row.detail),
    outcome: row.outcome,
  };
}
