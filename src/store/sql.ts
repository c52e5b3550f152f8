import { sql as kyselySql, type Sql } from "kysely";

/** Kysely's tag for a statement in SQL. Its type has a name, so that the declarations for CommonJS can take it from an ES module. */
export const sql: Sql = kyselySql;
