import { notATransaction } from "./once-error.ts";
import type { OnceOptions, OnceTransaction, Row } from "./once-transaction.ts";
import { statementSavepoint } from "./statement-savepoint.ts";

/** A `Transaction` of Kysely; a `Kysely` is none. */
export interface KyselyTransaction {
  readonly isTransaction: true;
  executeQuery(query: never): Promise<{ readonly rows: unknown[] }>;
}

export function fromKysely<Trx extends KyselyTransaction>(
  trx: Trx,
  { schema }: OnceOptions = {},
): OnceTransaction<Trx> {
  if (trx.isTransaction !== true) throw notATransaction("the `Kysely` itself");
  const tx: OnceTransaction<Trx> = {
    handle: trx,
    schema,
    async query(sql, parameters = []) {
      const query = { kind: "RawNode", sqlFragments: [sql], parameters: [] };
      const compiled = { sql, parameters, query, queryId: { queryId: "oncehook" } };
      return (await trx.executeQuery(compiled as never)).rows as Row[];
    },
    savepoint: (work) => statementSavepoint(tx.query, () => work(tx)),
  };
  return tx;
}
