import pg from "pg";
import { fromPg } from "../../../src/once/index.ts";
import { FAILING, type Library, type LibraryOptions } from "../library.ts";

export async function openPg(url: string, { connections = 20 }: LibraryOptions = {}): Promise<Library<pg.PoolClient>> {
  const pool = new pg.Pool({ connectionString: url, max: connections });
  pool.on("error", () => {});
  return {
    async transaction(level, work) {
      const client = await pool.connect();
      try {
        await client.query(`BEGIN ISOLATION LEVEL ${level}`);
        const value = await work(client);
        await client.query("COMMIT");
        return value;
      } catch (error) {
        await client.query("ROLLBACK");
        throw error;
      } finally {
        client.release();
      }
    },
    join: (client, options) => fromPg(client, options),
    // @ts-expect-error a pool is no transaction
    joinPool: () => fromPg(pool),
    insert: (client, table, note) => client.query(`INSERT INTO ${table} (note) VALUES ($1)`, [note]),
    fail: (client) => client.query(FAILING),
    async nested(client, work) {
      await client.query("SAVEPOINT application");
      await work(client);
      await client.query("RELEASE SAVEPOINT application");
    },
    close: () => pool.end(),
  };
}
