import { drizzle } from "drizzle-orm/node-postgres";
import type { Client, ClientBase, Pool, PoolClient } from "pg";
import { describe, expectTypeOf, it } from "vitest";
import type { DatabaseSettings, PostgresTransaction } from "../../src/store/index.ts";

type Connection = PostgresTransaction["connection"];

describe("the types of a handler's connection and of `database`", () => {
  it("`drizzle(tx.connection)` compiles without a cast, and so does every function that takes a client of pg", () => {
    const open = (tx: PostgresTransaction) => drizzle(tx.connection);
    expectTypeOf(open).returns.toHaveProperty("select");
    expectTypeOf<Connection>().toExtend<ClientBase>();
    expectTypeOf<Connection>().toExtend<Client>();
    expectTypeOf<Connection>().toExtend<PoolClient>();
  });

  it("a member that no handler may use does not compile", () => {
    expectTypeOf<Connection["release"]>().toBeNever();
    expectTypeOf<Connection["on"]>().toBeNever();
    expectTypeOf<Connection["connect"]>().toBeNever();
  });

  it("a pool of pg is a `database`", () => {
    expectTypeOf<Pool>().toExtend<DatabaseSettings>();
  });
});
