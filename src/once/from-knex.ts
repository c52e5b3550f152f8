import { notATransaction } from "./once-error.ts";
import type { OnceOptions, OnceTransaction, Row } from "./once-transaction.ts";
import { splitPlaceholders } from "./placeholders.ts";

/** A `Knex.Transaction`; `knex` itself, whose `transaction` would open another one, has no `isCompleted`. */
export interface KnexTransaction {
  raw(text: string, values: never): PromiseLike<unknown>;
  transaction(work: (inner: unknown) => Promise<unknown>): Promise<unknown>;
  isCompleted(): boolean;
}

export function fromKnex<Trx extends KnexTransaction>(trx: Trx, options: OnceOptions = {}): OnceTransaction<Trx> {
  if (typeof trx.isCompleted !== "function") throw notATransaction("`knex` itself");
  return {
    handle: trx,
    schema: options.schema,
    async query(text, values = []) {
      const { parts, placed } = splitPlaceholders(text, values);
      const escaped = parts.map((part) => part.replaceAll("?", "\\?"));
      return ((await trx.raw(escaped.join("?"), placed as never)) as { rows: Row[] }).rows;
    },
    savepoint: <T>(work: (inner: OnceTransaction<Trx>) => Promise<T>) =>
      trx.transaction((inner) => work(fromKnex(inner as Trx, options))) as Promise<T>,
  };
}
