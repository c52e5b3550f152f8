import pg from "pg";
import { startPostgresProcess } from "../../test/support/postgres-process.ts";

/** The one PostgreSQL of a run: npm's, in a process of its own, with the durability it comes with. */
export interface Postgres {
  readonly pid: number;
  /** Its version and the settings that decide whether a commit is durable. */
  readonly version: string;
  createDatabase(name: string): Promise<string>;
  dropDatabase(name: string): Promise<void>;
  stop(): Promise<void>;
}

const SETTINGS = ["fsync", "synchronous_commit", "full_page_writes", "shared_buffers", "wal_sync_method"];

export async function startPostgres(): Promise<Postgres> {
  const { pid, url, stop } = await startPostgresProcess();
  const version = await withClient(url, async (client) => {
    const { rows } = await client.query("SELECT name, current_setting(name) AS value FROM pg_settings");
    const values = new Map(rows.map(({ name, value }) => [name, value]));
    const settings = SETTINGS.map((name) => `${name}=${values.get(name)}`);
    return `${values.get("server_version")} (${settings.join(", ")})`;
  });
  return {
    pid,
    version,
    async createDatabase(name) {
      await withClient(url, (client) => client.query(`CREATE DATABASE ${name}`));
      return url.replace(/\/postgres$/, `/${name}`);
    },
    async dropDatabase(name) {
      await withClient(url, async (client) => {
        await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
        // What one round left to write is not the next one's to wait for.
        await client.query("CHECKPOINT");
      });
    },
    stop,
  };
}

export async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
