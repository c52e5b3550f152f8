import { notATransaction } from "./once-error.ts";
import type { OnceOptions, OnceTransaction, Row } from "./once-transaction.ts";
import { splitPlaceholders } from "./placeholders.ts";

/** A `PgTransaction` of Drizzle; a database, whose `transaction` would open another one, has no `rollback`. */
export interface DrizzleTransaction {
  execute(query: never): PromiseLike<unknown>;
  transaction(work: (inner: unknown) => Promise<unknown>): Promise<unknown>;
  rollback(): never;
}

/** The `sql` that `drizzle-orm` exports. */
export interface DrizzleSql {
  (strings: TemplateStringsArray, ...values: unknown[]): unknown;
  param(value: unknown): unknown;
}

/** For the drivers node-postgres and postgres-js. */
export function fromDrizzle<Tx extends DrizzleTransaction>(
  tx: Tx,
  sql: DrizzleSql,
  options: OnceOptions = {},
): OnceTransaction<Tx> {
  if (typeof tx.rollback !== "function") throw notATransaction("the `db` of Drizzle itself");
  return {
    handle: tx,
    schema: options.schema,
    async query(text, values = []) {
      const { parts, placed } = splitPlaceholders(text, values);
      const strings = Object.assign([...parts], { raw: parts });
      const answer = await tx.execute(sql(strings, ...placed.map((value) => sql.param(value))) as never);
      return (Array.isArray(answer) ? answer : (answer as { rows: Row[] }).rows) as Row[];
    },
    savepoint: <T>(work: (inner: OnceTransaction<Tx>) => Promise<T>) =>
      tx.transaction((inner) => work(fromDrizzle(inner as Tx, sql, options))) as Promise<T>,
  };
}
