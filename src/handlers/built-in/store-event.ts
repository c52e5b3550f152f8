import { STORED_EVENTS, sqlMigration } from "../../store/index.ts";
import { defineHandler } from "../define-handler.ts";
import type { Handler } from "../handler.ts";

const events = sqlMigration(
  STORED_EVENTS,
  `CREATE TABLE events (
  source text NOT NULL, id text NOT NULL, type text NOT NULL, data text NOT NULL, received_at {time} NOT NULL,
  PRIMARY KEY (source, id)
)`,
);

/** The envelope of an event beside its data, for `oncehook backfill`. Rows of earlier versions have none. */
const envelopes = sqlMigration(
  "built-in-events-envelope",
  `ALTER TABLE events ADD COLUMN timestamp bigint;
ALTER TABLE events ADD COLUMN headers text;
ALTER TABLE events ADD COLUMN version text;`,
);

/** Whether it only stores events: its source has no handler. */
export const storesEvents = ({ migrations }: Handler): boolean => migrations.includes(events);

/** Keeps every event of a source without a handler. @param hide for `JSON.stringify`: masks credentials */
export function storeEvent(
  source: string,
  hide: (of: "headers" | "fields") => (name: string, value: unknown) => unknown,
): Handler {
  return defineHandler({
    source,
    type: "*",
    migrations: [events, envelopes],
    async handle({ event, tenant, version, tx, now }) {
      const { event_id: id, event_type: type, timestamp, data, headers } = event;
      // Ids are unique within a tenant.
      const row = {
        source: tenant === undefined ? source : `${source}/${tenant}`,
        id,
        type,
        data: JSON.stringify(data, hide("fields")),
        received_at: now.toISOString(),
        timestamp,
        headers: headers === undefined ? null : JSON.stringify(headers, hide("headers")),
        version,
      };
      await tx.query.withTables<{ events: typeof row }>().insertInto("events").values(row).execute();
      return { id };
    },
  });
}
