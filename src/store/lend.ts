import type { CompiledQuery, Kysely, QueryResult } from "kysely";
import { bindQuery, type Spelling } from "./bound-query.ts";
import { counted, type Lending } from "./guarded.ts";
import type { Dialect, OpenQuery, Transaction } from "./transaction.ts";

type Statement = Pick<CompiledQuery, "sql" | "parameters">;

/** What differs between the databases. */
export interface Lender {
  readonly dialect: Dialect;
  readonly spelling: Spelling;
  /** @throws Error for a statement that no handler may run */
  readonly assertAllowed: (sql: string) => void;
  readonly execute: (statement: Statement) => QueryResult<unknown> | Promise<QueryResult<unknown>>;
  /** The driver's own connection, guarded. */
  readonly driver: () => object;
}

/** The open transaction for a handler. Each part is made on first use: nobody pays for the ways that he does not go. */
export function lend(
  lending: Lending,
  { dialect, spelling, assertAllowed, execute, driver }: Lender,
): Transaction {
  let query: Kysely<unknown> | undefined;
  let connection: object | undefined;
  const run = (statement: Statement) => {
    assertAllowed(statement.sql);
    return counted(lending, () => execute(statement));
  };
  return {
    dialect,
    get query(): OpenQuery {
      query ??= bindQuery(spelling, run);
      return query;
    },
    async execute(sql, parameters = []) {
      const { rows, numAffectedRows } = await run({ sql, parameters });
      return { rows: rows as Record<string, unknown>[], changes: Number(numAffectedRows ?? 0) };
    },
    get connection() {
      connection ??= driver();
      return connection;
    },
  };
}
