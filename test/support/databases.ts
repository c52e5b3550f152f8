import { randomBytes } from "node:crypto";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { describe, inject } from "vitest";
import type { Store } from "../../src/store/index.ts";
import { atFileEnd } from "./at-file-end.ts";
import { fastFolder } from "./fast-folder.ts";
import { type Dialect, openTarget, type StoreOptions, type Target } from "./open-target.ts";

export { type Dialect, databaseFile, openTarget, STAMP, type StoreOptions, type Target } from "./open-target.ts";
export const DIALECTS: readonly Dialect[] = ["sqlite", "postgres"];

/** The tags of a test that takes seconds: `npm test` runs it on SQLite, `npm run test:full` on both. */
export function fullOnPostgres(dialect: Dialect): string[] {
  return dialect === "postgres" ? ["full"] : [];
}

/**
 * Describes the same on both databases, where `test/conformance` proves that both stores keep the same promises:
 * `npm test` runs it on SQLite, `npm run test:full` on both.
 * @param name has `%s` for the database
 */
export function describeFullOnPostgres(name: string, body: (dialect: Dialect) => void): void {
  for (const dialect of DIALECTS) {
    describe(name.replace("%s", dialect), { tags: fullOnPostgres(dialect) }, () => body(dialect));
  }
}

/** Lends a fresh, empty database. */
export async function withDatabase<T>(dialect: Dialect, use: (target: Target) => Promise<T>): Promise<T> {
  return dialect === "sqlite" ? withSqlite(use) : withPostgres("template1", use);
}

/** Lends a fresh database that has the schema already, which takes half the time. */
export async function withMigrated<T>(dialect: Dialect, use: (target: Target) => Promise<T>): Promise<T> {
  return dialect === "sqlite"
    ? withSqlite(use, inject("sqliteTemplate"))
    : withPostgres(inject("postgresTemplate"), use);
}

async function withSqlite<T>(use: (target: Target) => Promise<T>, template?: string): Promise<T> {
  const folder = await mkdtemp(join(fastFolder(), "oncehook-test-"));
  const path = join(folder, "test.db");
  try {
    if (template !== undefined) await copyFile(template, path);
    return await use({ dialect: "sqlite", url: `sqlite:${path}` });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function withPostgres<T>(template: string, use: (target: Target) => Promise<T>): Promise<T> {
  const name = `oncehook_test_${randomBytes(6).toString("hex")}`;
  const url = new URL(inject("postgresUrl"));
  url.pathname = `/${name}`;
  await administer(`CREATE DATABASE ${name} TEMPLATE ${template}`);
  try {
    return await use({ dialect: "postgres", url: url.href });
  } finally {
    await administer(`DROP DATABASE ${name} WITH (FORCE)`);
  }
}

/** One connection for all databases of a test file. */
let administering: Promise<pg.Client> | undefined;

async function administer(statement: string): Promise<void> {
  administering ??= (async () => {
    const client = new pg.Client({ connectionString: inject("postgresUrl") });
    await client.connect();
    atFileEnd(() => {
      administering = undefined;
      return client.end();
    });
    return client;
  })();
  await (await administering).query(statement);
}

/** Lends an opened store on a fresh database. */
export async function withStore<T>(
  dialect: Dialect,
  use: (store: Store, target: Target) => Promise<T>,
  options: StoreOptions = {},
): Promise<T> {
  return withMigrated(dialect, async (target) => {
    const { store } = await openTarget(target, options);
    try {
      return await use(store, target);
    } finally {
      await store.close();
    }
  });
}
