import { z } from "zod";
import type { JsonObject } from "../../domain/index.ts";
import { type Migration, STORED_EVENTS, sql } from "../../store/index.ts";
import { defineHandler } from "../define-handler.ts";
import type { Handler } from "../handler.ts";

type Tables = {
  events: {
    source: string;
    id: string;
    type: string;
    data: string;
    received_at: string;
    timestamp: number;
    headers: string | null;
    version: string;
  };
};

const events: Migration = {
  name: STORED_EVENTS,
  async up({ query, dialect }) {
    await sql
      .raw(`CREATE TABLE events (
        source text NOT NULL,
        id text NOT NULL,
        type text NOT NULL,
        data text NOT NULL,
        received_at ${dialect === "postgres" ? "timestamptz" : "text"} NOT NULL,
        PRIMARY KEY (source, id)
      )`)
      .execute(query);
  },
};

/** What a handler gets of an event beside its data, for `oncehook backfill`. Rows of earlier versions have none of it. */
const envelopes: Migration = {
  name: "built-in-events-envelope",
  async up({ query }) {
    for (const column of ["timestamp bigint", "headers text", "version text"])
      await sql.raw(`ALTER TABLE events ADD COLUMN ${column}`).execute(query);
  },
};

/** Keeps every event of a source that has no handler of its own, its data as JSON text. */
export function storeEvent(source: string): Handler {
  return defineHandler({
    source,
    type: "*",
    data: z.custom<JsonObject>(),
    migrations: [events, envelopes],
    async handle({ event, tenant, version, tx, now }) {
      const { event_id: id, event_type: type, timestamp, data, headers } = event;
      // Ids are unique within a tenant.
      const row = {
        source: tenant === undefined ? source : `${source}/${tenant}`,
        id,
        type,
        data: JSON.stringify(data),
        received_at: now.toISOString(),
        timestamp,
        headers: headers === undefined ? null : JSON.stringify(headers),
        version,
      };
      await tx.query.withTables<Tables>().insertInto("events").values(row).execute();
      return { id };
    },
  });
}
