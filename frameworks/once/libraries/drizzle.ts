import { sql } from "drizzle-orm";
import { drizzle as drizzlePg } from "drizzle-orm/node-postgres";
import { bigserial, pgTable, text } from "drizzle-orm/pg-core";
import { drizzle as drizzlePostgresJs } from "drizzle-orm/postgres-js";
import pg from "pg";
import postgres from "postgres";
import { fromDrizzle } from "../../../src/once/index.ts";
import { FAILING, type Library, type LibraryOptions } from "../library.ts";

const columns = () => ({ id: bigserial({ mode: "bigint" }).primaryKey(), note: text().notNull() });
const TABLES = { effects: pgTable("effects", columns()), audits: pgTable("audits", columns()) };

type OnPg = Parameters<Parameters<ReturnType<typeof drizzlePg>["transaction"]>[0]>[0];
type OnPostgresJs = Parameters<Parameters<ReturnType<typeof drizzlePostgresJs>["transaction"]>[0]>[0];

export async function openDrizzlePg(url: string, { connections = 20 }: LibraryOptions = {}): Promise<Library<OnPg>> {
  const pool = new pg.Pool({ connectionString: url, max: connections });
  pool.on("error", () => {});
  const db = drizzlePg({ client: pool });
  return {
    transaction: (isolationLevel, work) => db.transaction(work, { isolationLevel }),
    join: (tx, options) => fromDrizzle(tx, sql, options),
    // @ts-expect-error the database is no transaction
    joinPool: () => fromDrizzle(db, sql),
    insert: (tx, table, note) => tx.insert(TABLES[table]).values({ note }),
    fail: (tx) => tx.execute(sql.raw(FAILING)),
    nested: (tx, work) => tx.transaction(work),
    close: () => pool.end(),
  };
}

export async function openDrizzlePostgresJs(
  url: string,
  { connections = 20, prepare = true }: LibraryOptions = {},
): Promise<Library<OnPostgresJs>> {
  const client = postgres(url, { max: connections, prepare, onnotice() {} });
  const db = drizzlePostgresJs({ client });
  return {
    transaction: (isolationLevel, work) => db.transaction(work, { isolationLevel }),
    join: (tx, options) => fromDrizzle(tx, sql, options),
    // @ts-expect-error the database is no transaction
    joinPool: () => fromDrizzle(db, sql),
    insert: async (tx, table, note) => tx.insert(TABLES[table]).values({ note }),
    fail: async (tx) => tx.execute(sql.raw(FAILING)),
    nested: (tx, work) => tx.transaction(work),
    close: () => client.end(),
  };
}
