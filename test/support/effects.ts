import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { type Completion, type Migration, type NewRecord, type OnceScope, sql } from "../../src/store/index.ts";
import type { Target } from "./open-target.ts";
import { databaseFile } from "./open-target.ts";

/** Tables with which tests see what a handler left behind, and a constraint that only COMMIT checks. */
export const EFFECTS: Migration = {
  name: "test-effects",
  async up({ query }) {
    await sql.raw("CREATE TABLE effects (event_id text NOT NULL, note text)").execute(query);
    await sql.raw("CREATE TABLE parents (id integer PRIMARY KEY)").execute(query);
    await sql
      .raw("CREATE TABLE children (parent_id integer REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)")
      .execute(query);
  },
};

/** A table of a user's own with values that the two databases write differently. */
export const KINDS: Migration = {
  name: "test-kinds",
  async up({ query, dialect }) {
    const [time, bytes] = dialect === "sqlite" ? ["text", "blob"] : ["timestamptz", "bytea"];
    await sql
      .raw(
        `CREATE TABLE kinds (name text PRIMARY KEY, at ${time}, raw ${bytes}, flag boolean, price numeric(12,2), big bigint,
          ratio double precision, doc json, parent text REFERENCES kinds (name))`,
      )
      .execute(query);
  },
};
export function newRecord(eventId: string, over: Partial<NewRecord> = {}): NewRecord {
  return {
    source: "platform",
    eventId,
    eventType: "payment_notify",
    version: "v1",
    bodySha256: "a".repeat(64),
    ...over,
  };
}

export function within(ms: number): number {
  return performance.now() + ms;
}

/** Commits within ten seconds. */
export function committing(ms = 10_000) {
  return { deadline: within(ms), mode: "commit" } as const;
}

/** A handler's work: one row in `effects`. */
export async function addEffect({ tx }: Pick<OnceScope, "tx">, eventId: string): Promise<Completion> {
  await tx.query.insertInto("effects").values({ event_id: eventId }).execute();
  return { result: { event_id: eventId } };
}

/** Rows as the database has them, over a connection of the test's own. */
export async function rowsOf(target: Target, statement: string): Promise<Record<string, unknown>[]> {
  if (target.dialect === "sqlite") {
    // After a kill the first one to open the file recovers it, and the others wait.
    const database = new DatabaseSync(databaseFile(target), { readOnly: true, timeout: 10_000 });
    try {
      return database.prepare(statement).all() as Record<string, unknown>[];
    } finally {
      database.close();
    }
  }
  const client = new pg.Client({ connectionString: target.url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

export async function countOf(target: Target, table: string, where = "1 = 1"): Promise<number> {
  const [row] = await rowsOf(target, `SELECT count(*) AS n FROM ${table} WHERE ${where}`);
  return Number(row?.n);
}
