import type { Inspection } from "../../src/store/index.ts";
import { inspectPostgres } from "../../src/store/postgres/index.ts";
import { inspectSqlite } from "../../src/store/sqlite/index.ts";
import type { Target } from "./open-target.ts";
import { databaseFile } from "./open-target.ts";

/** What `doctor` sees of a database. */
export function inspectTarget({ dialect, url }: Target, schema?: string): Promise<Inspection> {
  return dialect === "sqlite" ? inspectSqlite(databaseFile({ url })) : inspectPostgres(url, { schema });
}
