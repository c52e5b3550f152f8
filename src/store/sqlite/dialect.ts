import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";
import type { SqlDialect } from "../bind-query.ts";

const adapter = new SqliteAdapter();
/** Compiling is synchronous and begins afresh each time, so that one compiler serves every transaction. */
const compiler = new SqliteQueryCompiler();

export const sqliteDialect: SqlDialect = {
  createAdapter: () => adapter,
  createQueryCompiler: () => compiler,
  createIntrospector: (db) => new SqliteIntrospector(db),
};
