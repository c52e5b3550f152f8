import { notATransaction } from "./once-error.ts";
import type { OnceOptions, OnceTransaction, Row } from "./once-transaction.ts";

/** An `EntityManager` of TypeORM, as `dataSource.transaction` hands it over. */
export interface TypeOrmManager {
  query(text: string, values?: unknown[]): Promise<unknown>;
  transaction(work: (inner: unknown) => Promise<unknown>): Promise<unknown>;
  readonly queryRunner?: { readonly isTransactionActive: boolean } | undefined;
}

export function fromTypeOrm<Manager extends TypeOrmManager>(
  manager: Manager,
  options: OnceOptions = {},
): OnceTransaction<Manager> {
  // Its `transaction` would open another one.
  if (manager.queryRunner?.isTransactionActive !== true) throw notATransaction("a manager without a transaction");
  return {
    handle: manager,
    schema: options.schema,
    async query(text, values = []) {
      const answer = await manager.query(text, [...values]);
      // An UPDATE returns its rows and their number.
      return (Array.isArray(answer) && Array.isArray(answer[0]) ? answer[0] : (answer ?? [])) as Row[];
    },
    savepoint: <T>(work: (inner: OnceTransaction<Manager>) => Promise<T>) =>
      manager.transaction((inner) => work(fromTypeOrm(inner as Manager, options))) as Promise<T>,
  };
}
