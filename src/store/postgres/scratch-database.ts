import { randomBytes } from "node:crypto";
import { withConnection } from "./wire/first-connection.ts";

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Makes an empty database on the server of the address, for its user.
 * @throws the driver's error, as for a user without the right
 */
export async function createScratchDatabase(server: string) {
  const name = `oncehook_test_${randomBytes(6).toString("hex")}`;
  const url = new URL(server);
  url.pathname = `/${name}`;
  const administer = (statement: string) =>
    withConnection(server, { connectMs: CONNECT_TIMEOUT_MS }, async (client) => void (await client.query(statement)));
  await administer(`CREATE DATABASE ${name}`);
  return { url: url.href, drop: () => administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}
