import { PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import type { Spelling } from "../bound-query.ts";

const adapter = new PostgresAdapter();
/** Compiling is synchronous and begins afresh each time, so that one compiler serves every transaction. */
const compiler = new PostgresQueryCompiler();

export const postgresSpelling: Spelling = {
  createAdapter: () => adapter,
  createQueryCompiler: () => compiler,
  createIntrospector: (db) => new PostgresIntrospector(db),
};
