import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import type { Target } from "./open-target.ts";
import { databaseFile } from "./open-target.ts";

const AT_A_TIME = 10_000;

/** The rows of tables that would not fit into the memory, one after the other, over a connection of the test's own. */
export async function* eachRow(target: Target, statement: string): AsyncGenerator<Record<string, unknown>> {
  if (target.dialect === "sqlite") {
    const database = new DatabaseSync(databaseFile(target), { readOnly: true });
    try {
      yield* database.prepare(statement).iterate() as Iterable<Record<string, unknown>>;
    } finally {
      database.close();
    }
    return;
  }
  const client = new pg.Client({ connectionString: target.url });
  await client.connect();
  try {
    await client.query("BEGIN READ ONLY");
    await client.query(`DECLARE rows NO SCROLL CURSOR FOR ${statement}`);
    for (;;) {
      const { rows } = await client.query(`FETCH ${AT_A_TIME} FROM rows`);
      if (rows.length === 0) return;
      yield* rows;
    }
  } finally {
    await client.end();
  }
}
