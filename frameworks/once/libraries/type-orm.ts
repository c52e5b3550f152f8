import { DataSource, type EntityManager } from "typeorm";
import { fromTypeOrm } from "../../../src/once/index.ts";
import { FAILING, type Library, type LibraryOptions } from "../library.ts";

const LEVELS = {
  "read committed": "READ COMMITTED",
  "repeatable read": "REPEATABLE READ",
  serializable: "SERIALIZABLE",
} as const;

export async function openTypeOrm(
  url: string,
  { connections = 20 }: LibraryOptions = {},
): Promise<Library<EntityManager>> {
  const source = new DataSource({ type: "postgres", url, extra: { max: connections }, poolErrorHandler: () => {} });
  await source.initialize();
  return {
    transaction: (level, work) => source.transaction(LEVELS[level], work),
    join: (manager, options) => fromTypeOrm(manager, options),
    joinPool: () => fromTypeOrm(source.manager),
    insert: (manager, table, note) => manager.query(`INSERT INTO ${table} (note) VALUES ($1)`, [note]),
    fail: (manager) => manager.query(FAILING),
    nested: (manager, work) => manager.transaction(work),
    close: () => source.destroy(),
  };
}
