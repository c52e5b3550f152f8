import { inject } from "vitest";
import { temporaryDatabase } from "../../src/app/temporary-database.ts";
import type { Store } from "../../src/store/index.ts";
import { type Dialect, openTarget, type StoreOptions, type Target } from "./open-target.ts";

export { type Dialect, openTarget, STAMP, type StoreOptions, type Target } from "./open-target.ts";
export const DIALECTS: readonly Dialect[] = ["sqlite", "postgres"];

/** Lends a fresh, empty database. */
export async function withDatabase<T>(dialect: Dialect, use: (target: Target) => Promise<T>): Promise<T> {
  return dialect === "sqlite" ? withSqlite(use) : withPostgres(use);
}

async function withSqlite<T>(use: (target: Target) => Promise<T>): Promise<T> {
  const { url, remove } = await temporaryDatabase();
  try {
    return await use({ dialect: "sqlite", url });
  } finally {
    await remove();
  }
}

async function withPostgres<T>(use: (target: Target) => Promise<T>): Promise<T> {
  const { url, remove } = await temporaryDatabase(inject("postgresUrl"));
  try {
    return await use({ dialect: "postgres", url });
  } finally {
    await remove();
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
