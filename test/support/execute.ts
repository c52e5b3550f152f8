import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import type { Target } from "./open-target.ts";
import { databaseFile } from "./open-target.ts";

/** Runs a statement over a connection of the test's own. */
export async function execute(target: Target, statement: string): Promise<void> {
  if (target.dialect === "sqlite") {
    const database = new DatabaseSync(databaseFile(target));
    database.exec(statement);
    database.close();
    return;
  }
  const client = new pg.Client({ connectionString: target.url });
  await client.connect();
  await client.query(statement);
  await client.end();
}
