import { PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import type { Spelling } from "../bound-query.ts";

export const postgresSpelling: Spelling = {
  createAdapter: () => new PostgresAdapter(),
  createQueryCompiler: () => new PostgresQueryCompiler(),
  createIntrospector: (db) => new PostgresIntrospector(db),
};
