import pg from "pg";
import type { Target } from "./databases.ts";

/** Holds a lock of PostgreSQL in a session of its own, as an operator's tool would, while `use` runs. */
export async function withLock<T>(target: Target, statement: string, use: () => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: target.url });
  await client.connect();
  try {
    await client.query("BEGIN");
    await client.query(statement);
    return await use();
  } finally {
    await client.query("ROLLBACK");
    await client.end();
  }
}
