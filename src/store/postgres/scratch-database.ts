import { randomBytes } from "node:crypto";
import pg from "pg";

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Makes an empty database beside the one in the address, on the same server and for the same user.
 * @throws the driver's error when the server does not answer, or the user may not create databases
 */
export async function createScratchDatabase(server: string) {
  const name = `oncehook_test_${randomBytes(6).toString("hex")}`;
  const url = new URL(server);
  url.pathname = `/${name}`;
  await administer(server, `CREATE DATABASE ${name}`);
  return { url: url.href, drop: () => administer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

async function administer(connectionString: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
