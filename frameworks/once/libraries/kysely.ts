import { CamelCasePlugin, type Generated, Kysely, PostgresDialect, type Transaction } from "kysely";
import pg from "pg";
import { fromKysely } from "../../../src/once/index.ts";
import type { Library, LibraryOptions } from "../library.ts";

interface Note {
  id: Generated<string>;
  note: string;
}
interface Tables {
  effects: Note;
  audits: Note;
}

/** With the plugin that renames columns, which meets the rows of `once` too. */
export async function openKysely(
  url: string,
  { connections = 20 }: LibraryOptions = {},
): Promise<Library<Transaction<Tables>>> {
  const pool = new pg.Pool({ connectionString: url, max: connections });
  pool.on("error", () => {});
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }), plugins: [new CamelCasePlugin()] });
  return {
    transaction: (level, work) => db.transaction().setIsolationLevel(level).execute(work),
    join: (trx, options) => fromKysely(trx, options),
    // @ts-expect-error the Kysely is no transaction
    joinPool: () => fromKysely(db),
    insert: (trx, table, note) => trx.insertInto(table).values({ note }).execute(),
    fail: (trx) =>
      trx
        .insertInto("effects")
        .values({ note: null as unknown as string })
        .execute(),
    close: () => db.destroy(),
  };
}
