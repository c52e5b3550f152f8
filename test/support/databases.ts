import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { inject } from "vitest";
import type { Store } from "../../src/store/index.ts";
import { type Dialect, openTarget, type StoreOptions, type Target } from "./open-target.ts";

export { type Dialect, openTarget, STAMP, type StoreOptions, type Target } from "./open-target.ts";
export const DIALECTS: readonly Dialect[] = ["sqlite", "postgres"];

/** Lends a fresh, empty database. */
export async function withDatabase<T>(dialect: Dialect, use: (target: Target) => Promise<T>): Promise<T> {
  return dialect === "sqlite" ? withSqlite(use) : withPostgres(use);
}

async function withSqlite<T>(use: (target: Target) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "oncehook-test-"));
  try {
    return await use({ dialect: "sqlite", url: `sqlite:${join(folder, "test.db")}` });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function withPostgres<T>(use: (target: Target) => Promise<T>): Promise<T> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  const url = new URL(inject("postgresUrl"));
  await administer(`CREATE DATABASE ${name}`);
  url.pathname = `/${name}`;
  try {
    return await use({ dialect: "postgres", url: url.href });
  } finally {
    await administer(`DROP DATABASE ${name} WITH (FORCE)`);
  }
}

async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject("postgresUrl") });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Lends an opened store on a fresh database. */
export async function withStore<T>(
  dialect: Dialect,
  use: (store: Store, target: Target) => Promise<T>,
  options: StoreOptions = {},
): Promise<T> {
  return withDatabase(dialect, async (target) => {
    const { store } = await openTarget(target, options);
    try {
      return await use(store, target);
    } finally {
      await store.close();
    }
  });
}
