import type { OnceOptions, OnceTransaction, Row } from "./once-transaction.ts";
import { statementSavepoint } from "./statement-savepoint.ts";

/** A `Client` or `PoolClient` of pg. A `Pool`, whose statements run on any connection, does not fit. */
export interface PgClient {
  query(text: string, values?: unknown[]): Promise<{ rows: Row[] }>;
  readonly totalCount?: never;
}

/** @param client on which BEGIN has run */
export function fromPg<Client extends PgClient>(client: Client, { schema }: OnceOptions = {}): OnceTransaction<Client> {
  const tx: OnceTransaction<Client> = {
    handle: client,
    schema,
    query: async (text, values = []) => (await client.query(text, [...values])).rows,
    savepoint: (work) => statementSavepoint(tx.query, () => work(tx)),
  };
  return tx;
}
