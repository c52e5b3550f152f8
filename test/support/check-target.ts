import type { IntegrityReport } from "../../src/store/index.ts";
import { checkPostgres } from "../../src/store/postgres/index.ts";
import { checkSqlite } from "../../src/store/sqlite/index.ts";
import type { Target } from "./open-target.ts";
import { databaseFile } from "./open-target.ts";

/** What a user's `oncehook verify` would find. */
export async function checkTarget({ dialect, url }: Target, schema?: string): Promise<IntegrityReport> {
  return dialect === "sqlite" ? checkSqlite(databaseFile({ url })) : checkPostgres(url, schema);
}
