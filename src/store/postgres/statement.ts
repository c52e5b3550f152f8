import type { CompiledQuery, QueryResult } from "kysely";
import pg from "pg";
import { ConnectionLost } from "./hindrance.ts";

/** How long the answer of a statement may be overdue before the connection counts as dead. */
const SILENCE_MS = 2_000;
const CLOCK_SLACK_MS = 100;
const limits = new WeakMap<pg.ClientBase, number>();
const silent = new WeakSet<pg.ClientBase>();

/** After this time without an answer the driver gives a statement up, beyond the server's own limit for it. */
export function silenceLimit(statementTimeoutMs: number): number {
  return statementTimeoutMs + SILENCE_MS;
}

export function setSilenceLimit(client: pg.ClientBase, ms: number): void {
  limits.set(client, ms);
}

/** A connection on which a statement was given up: its answer may still come, and would be taken for another's. */
export function isSilent(client: pg.ClientBase): boolean {
  return silent.has(client);
}

/**
 * Sends one statement and tells a server that does not answer from one that refuses.
 * @throws ConnectionLost when the answer did not come; otherwise the driver's error
 */
export async function ask(client: pg.ClientBase, statement: pg.QueryConfig): Promise<pg.QueryResult> {
  const begun = performance.now();
  try {
    return await client.query(statement);
  } catch (error) {
    const waited = performance.now() - begun;
    // The driver's timer and this clock may differ by a little.
    const isOverdue = waited > (limits.get(client) ?? Number.POSITIVE_INFINITY) - CLOCK_SLACK_MS;
    if (error instanceof pg.DatabaseError || !isOverdue) throw error;
    silent.add(client);
    throw new ConnectionLost(`PostgreSQL did not answer for ${Math.round(waited)} ms`, { cause: error });
  }
}

/** Runs a statement that Kysely compiled and returns what Kysely expects. */
export async function executeOn(
  client: pg.ClientBase,
  { sql, parameters }: Pick<CompiledQuery, "sql" | "parameters">,
): Promise<QueryResult<unknown>> {
  // The extended protocol takes one statement at a time, so that a text cannot hide a COMMIT behind another.
  const statement = { text: sql, values: parameters as unknown[], queryMode: "extended" };
  const { rows, rowCount } = await ask(client, statement);
  return { rows, numAffectedRows: BigInt(rowCount ?? 0) };
}
