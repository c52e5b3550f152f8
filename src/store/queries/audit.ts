import type { Selectable } from "kysely";
import type { AuditFilter, AuditStore, NewAuditEntry, StoredAuditEntry } from "../audit-store.ts";
import type { Page } from "../page.ts";
import type { AuditRow } from "../tables.ts";
import type { Access } from "./access.ts";
import { isoTime, storableText } from "./rows.ts";

const TABLE = "oncehook_audit";

/** The entries of `AuditStore`, in SQL that both databases speak. */
export function auditQueries({ read, write }: Access): AuditStore {
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

function valuesOf({ at, who, role, remoteAddress, action, subject, detail, outcome }: NewAuditEntry) {
  return {
    at: at.toISOString(),
    who: who === null ? null : storableText(who),
    role,
    remote_address: storableText(remoteAddress),
    action,
    subject: subject === null ? null : storableText(subject),
    detail: detail === null ? null : JSON.stringify(detail),
    outcome,
  };
}

async function list(read: Access["read"], page: Page, filter: AuditFilter): Promise<StoredAuditEntry[]> {
  let query = read.selectFrom(TABLE).selectAll().orderBy("id", "desc").limit(page.limit);
  if (page.before !== undefined) query = query.where("id", "<", page.before);
  if (filter.action !== undefined) query = query.where("action", "=", filter.action);
  if (filter.who !== undefined) query = query.where("who", "=", filter.who);
  return (await query.execute()).map(toEntry);
}

function toEntry(row: Selectable<AuditRow>): StoredAuditEntry {
  return {
    id: Number(row.id),
    timestamp: isoTime(row.at),
    who: row.who,
    role: row.role,
    remoteAddress: row.remote_address,
    action: row.action,
    subject: row.subject,
    detail: row.detail === null ? null : JSON.parse(row.detail),
    outcome: row.outcome,
  };
}
