import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import type { Target } from "./open-target.ts";
import { databaseFile } from "./open-target.ts";
import { until } from "./until.ts";

/** Holds a lock in a session of its own, as an operator's tool would, while `use` runs; on SQLite the writer's. */
export async function withLock<T>(target: Target, statement: string, use: () => Promise<T>): Promise<T> {
  return target.dialect === "sqlite" ? withWriter(target, use) : withTable(target, statement, use);
}

async function withWriter<T>(target: Target, use: () => Promise<T>): Promise<T> {
  const database = new DatabaseSync(databaseFile(target));
  try {
    // The receiver in this process may be writing, and goes on only while nothing blocks.
    await until(() => isBegun(database));
    return await use();
  } finally {
    if (database.isTransaction) database.exec("ROLLBACK");
    database.close();
  }
}

function isBegun(database: DatabaseSync): boolean {
  try {
    database.exec("BEGIN IMMEDIATE");
    return true;
  } catch (error) {
    if (error instanceof Error && error.message === "database is locked") return false;
    throw error;
  }
}

async function withTable<T>(target: Target, statement: string, use: () => Promise<T>): Promise<T> {
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
