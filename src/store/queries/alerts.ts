import { type Selectable, sql } from "kysely";
import type { AlertChange, AlertKind, AlertStore, Exhausted, StoredAlert } from "../alert-store.ts";
import type { AlertRow } from "../tables.ts";
import type { Access } from "./access.ts";
import { arrivalQueries } from "./arrivals.ts";

/** Whose notifications alerts are; their place in the outbox is the 0th of an event that does not exist. */
const OWN_SOURCE = "oncehook";

/** The alerts of `AlertStore`, in SQL that both databases speak. */
export function alertQueries(access: Access): AlertStore {
  return {
    ...arrivalQueries(access),
    takeTurn: (now, everyMs) => takeTurn(access, now.getTime(), everyMs),
    exhausted: (limit) => exhausted(access, limit),
    async list() {
      return (await access.read.selectFrom("oncehook_alerts").selectAll().execute()).map(toAlert);
    },
    change: (change) => access.transact((query) => changeIn(query, change)),
  };
}

/** A turn that lies far ahead was taken before the clock was set back. */
async function takeTurn({ write }: Access, now: number, everyMs: number): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`INSERT INTO oncehook_alert_turns (name, next_at_ms)
    VALUES ('judge', ${now + everyMs})
    ON CONFLICT (name) DO UPDATE SET next_at_ms = excluded.next_at_ms
    WHERE oncehook_alert_turns.next_at_ms <= ${now}
      OR oncehook_alert_turns.next_at_ms > ${now + 2 * everyMs}`.execute(write);
  return numAffectedRows > 0n;
}

async function exhausted({ read }: Access, limit: number): Promise<Exhausted> {
  const { rows } = await sql<{ source: string; event_type: string; count: number | string }>`
    SELECT source, event_type, count(*) AS count FROM (
      SELECT source, event_type FROM oncehook_failures WHERE state = 'exhausted' LIMIT ${limit}
    ) AS looked_at GROUP BY source, event_type ORDER BY source, event_type`.execute(read);
  const types = rows.map((row) => ({
    source: row.source,
    eventType: row.event_type,
    count: Number(row.count),
  }));
  return { types, isComplete: types.reduce((sum, { count }) => sum + count, 0) < limit };
}

async function changeIn(query: Access["write"], change: AlertChange): Promise<boolean> {
  const { kind, source, subject, from, message } = change;
  const at = change.toldAt.toISOString();
  const number = from + 1;
  const values = {
    is_open: change.isOpen ? (1 as const) : (0 as const),
    number,
    since: change.since.toISOString(),
    told: change.told,
    told_at: at,
  };
  if (!(await isFirst())) return false;
  if (message !== undefined) {
    const event_id = ["alert", kind, source, subject, number].join("/");
    const { topic, payload } = message;
    const row = { source: OWN_SOURCE, event_id, position: 0, topic, payload: JSON.stringify(payload) };
    await query
      .insertInto("oncehook_notifications")
      .values({ ...row, created_at: at })
      .execute();
  }
  return true;

  async function isFirst(): Promise<boolean> {
    if (from === 0) {
      const { numInsertedOrUpdatedRows = 0n } = await query
        .insertInto("oncehook_alerts")
        .values({ kind, source, subject, ...values })
        .onConflict((conflict) => conflict.columns(["kind", "source", "subject"]).doNothing())
        .executeTakeFirstOrThrow();
      return numInsertedOrUpdatedRows > 0n;
    }
    const { numUpdatedRows } = await query
      .updateTable("oncehook_alerts")
      .set(values)
      .where("kind", "=", kind)
      .where("source", "=", source)
      .where("subject", "=", subject)
      .where("number", "=", from)
      .executeTakeFirstOrThrow();
    return numUpdatedRows > 0n;
  }
}

function toAlert(row: Selectable<AlertRow>): StoredAlert {
  return {
    kind: row.kind as AlertKind,
    source: row.source,
    subject: row.subject,
    isOpen: row.is_open === 1,
    number: row.number,
    since: new Date(row.since),
    told: row.told,
    toldAt: new Date(row.told_at),
  };
}
