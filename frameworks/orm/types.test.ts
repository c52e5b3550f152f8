import { drizzle } from "drizzle-orm/node-postgres";
import type { Client, ClientBase, Pool, PoolClient } from "pg";
import { expect, expectTypeOf, it } from "vitest";
import type { DatabaseSettings, PostgresTransaction } from "../../src/store/index.ts";

type Connection = PostgresTransaction["connection"];

/** `tsc -p frameworks` checks it. */
const open = (tx: PostgresTransaction) => drizzle(tx.connection);

it("`drizzle(tx.connection)` compiles without a cast, and a member that no handler may use does not compile", () => {
  expect(open).toBeTypeOf("function");
  expectTypeOf(open).returns.toHaveProperty("select");
  expectTypeOf<Connection>().toExtend<ClientBase>();
  expectTypeOf<Connection>().toExtend<Client>();
  expectTypeOf<Connection>().toExtend<PoolClient>();
  expectTypeOf<Connection["release"]>().toBeNever();
  expectTypeOf<Connection["on"]>().toBeNever();
  expectTypeOf<Pool>().toExtend<DatabaseSettings>();
});
