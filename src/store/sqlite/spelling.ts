import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";
import type { Spelling } from "../bound-query.ts";

export const sqliteSpelling: Spelling = {
  createAdapter: () => new SqliteAdapter(),
  createQueryCompiler: () => new SqliteQueryCompiler(),
  createIntrospector: (db) => new SqliteIntrospector(db),
};
