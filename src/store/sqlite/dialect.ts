import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";
import type { SqlDialect } from "../bind-query.ts";

/**
 * Kysely would let one statement through at a time, and with it the store's own ones could share no commit: each would
 * wait for the flush of the one before it. Who may use the connection is the writer's to say.
 */
class ManyAtOnceAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
}

const adapter = new ManyAtOnceAdapter();
/** Compiling is synchronous and begins afresh each time, so that one compiler serves every transaction. */
const compiler = new SqliteQueryCompiler();

export const sqliteDialect: SqlDialect = {
  createAdapter: () => adapter,
  createQueryCompiler: () => compiler,
  createIntrospector: (db) => new SqliteIntrospector(db),
};
