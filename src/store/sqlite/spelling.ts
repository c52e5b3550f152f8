import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";
import type { Spelling } from "../bound-query.ts";

const adapter = new SqliteAdapter();
/** Compiling is synchronous and begins afresh each time, so that one compiler serves every transaction. */
const compiler = new SqliteQueryCompiler();

export const sqliteSpelling: Spelling = {
  createAdapter: () => adapter,
  createQueryCompiler: () => compiler,
  createIntrospector: (db) => new SqliteIntrospector(db),
};
