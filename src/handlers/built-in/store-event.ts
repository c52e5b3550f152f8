import { z } from "zod";
import type { JsonObject } from "../../domain/index.ts";
import { type Migration, sql } from "../../store/index.ts";
import { defineHandler } from "../define-handler.ts";
import type { Handler } from "../handler.ts";

type Tables = {
  events: { source: string; id: string; type: string; data: string; received_at: string };
};

const events: Migration = {
  name: "built-in-events",
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

/** Keeps every event of a source that has no handler of its own, its data as JSON text. */
export function storeEvent(source: string): Handler {
  return defineHandler({
    source,
    type: "*",
    data: z.custom<JsonObject>(),
    migrations: [events],
    async handle({ event, tenant, tx, now }) {
      const { event_id: id, event_type: type, data } = event;
      // Ids are unique within a tenant.
      const row = {
        source: tenant === undefined ? source : `${source}/${tenant}`,
        id,
        type,
        data: JSON.stringify(data),
        received_at: now.toISOString(),
      };
      await tx.query.withTables<Tables>().insertInto("events").values(row).execute();
      return { id };
    },
  });
}
