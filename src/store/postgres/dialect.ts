import { PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import type { SqlDialect } from "../bind-query.ts";

const adapter = new PostgresAdapter();
/** Compiling is synchronous and begins afresh each time, so that one compiler serves every transaction. */
const compiler = new PostgresQueryCompiler();

export const postgresDialect: SqlDialect = {
  createAdapter: () => adapter,
  createQueryCompiler: () => compiler,
  createIntrospector: (db) => new PostgresIntrospector(db),
};
