import knexFactory, { type Knex } from "knex";
import { fromKnex } from "../../../src/once/index.ts";
import { FAILING, type Library, type LibraryOptions } from "../library.ts";

export async function openKnex(
  url: string,
  { connections = 20 }: LibraryOptions = {},
): Promise<Library<Knex.Transaction>> {
  const knex = knexFactory({ client: "pg", connection: url, pool: { min: 0, max: connections } });
  return {
    transaction: (isolationLevel, work) => knex.transaction(work, { isolationLevel }),
    join: (trx, options) => fromKnex(trx, options),
    // @ts-expect-error knex itself is no transaction
    joinPool: () => fromKnex(knex),
    insert: async (trx, table, note) => trx(table).insert({ note }),
    fail: async (trx) => trx.raw(FAILING),
    nested: (trx, work) => trx.transaction(work),
    close: () => knex.destroy(),
  };
}
