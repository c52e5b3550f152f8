import type { CompiledQuery, QueryResult } from "kysely";
import type pg from "pg";

/** Runs a statement that Kysely compiled and returns what Kysely expects. */
export async function executeOn(
  client: pg.ClientBase,
  { sql, parameters }: CompiledQuery,
): Promise<QueryResult<unknown>> {
  const { rows, rowCount } = await client.query(sql, parameters as unknown[]);
  return { rows, numAffectedRows: BigInt(rowCount ?? 0) };
}
