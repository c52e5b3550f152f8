import { notATransaction } from "./once-error.ts";
import type { OnceOptions, OnceTransaction, Row } from "./once-transaction.ts";

/** A `TransactionSql` of postgres.js, as `sql.begin` hands it over. */
export interface PostgresJsTransaction {
  unsafe(text: string, values?: string[]): PromiseLike<readonly unknown[]>;
  savepoint(work: (inner: unknown) => Promise<unknown>): Promise<unknown>;
}

/** By its own savepoint. Without it a failed statement rejects the whole `begin`, even where the error is caught. */
export function fromPostgresJs<Sql extends PostgresJsTransaction>(
  sql: Sql,
  options: OnceOptions = {},
): OnceTransaction<Sql> {
  if (typeof sql.savepoint !== "function") throw notATransaction("the `sql` of postgres.js itself");
  return {
    handle: sql,
    schema: options.schema,
    query: async (text, values = []) => [...(await sql.unsafe(text, [...values]))] as Row[],
    savepoint: <T>(work: (inner: OnceTransaction<Sql>) => Promise<T>) =>
      sql.savepoint((inner) => work(fromPostgresJs(inner as Sql, options))) as Promise<T>,
  };
}
