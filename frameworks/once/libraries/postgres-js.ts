import postgres from "postgres";
import { fromPostgresJs } from "../../../src/once/index.ts";
import { FAILING, type Library, type LibraryOptions } from "../library.ts";

export async function openPostgresJs(
  url: string,
  { connections = 20, prepare = true }: LibraryOptions = {},
): Promise<Library<postgres.TransactionSql>> {
  const sql = postgres(url, { max: connections, prepare, onnotice() {} });
  return {
    transaction: async <T>(level: string, work: (tx: postgres.TransactionSql) => Promise<T>) =>
      (await sql.begin(`isolation level ${level}`, work)) as T,
    join: (tx, options) => fromPostgresJs(tx, options),
    // @ts-expect-error the pool is no transaction
    joinPool: () => fromPostgresJs(sql),
    insert: async (tx, table, note) => tx`INSERT INTO ${tx(table)} (note) VALUES (${note})`,
    fail: async (tx) => tx.unsafe(FAILING),
    nested: async (tx, work) => void (await tx.savepoint(work)),
    close: () => sql.end(),
  };
}
