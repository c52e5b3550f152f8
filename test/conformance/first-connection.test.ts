import { describe, expect, inject, it } from "vitest";
import { firstConnection, withConnection } from "../../src/store/postgres/wire/first-connection.ts";
import { type Target, withDatabase } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { openForAllTests } from "../support/for-all-tests.ts";

/** Longer than any test may take: what is tried again at all is tried until then. */
const LONG_MS = 60_000;
const LONG = { tryMs: LONG_MS, unansweredMs: LONG_MS, startingMs: LONG_MS };
const ROLE = `first_${process.pid}`;

let target: Target;

/** A role of the test's own, with no rights but to connect. */
openForAllTests((untilTestsEnd) =>
  withDatabase("postgres", async (fresh) => {
    target = fresh;
    await execute(target, `CREATE ROLE ${ROLE} LOGIN PASSWORD 'secret'`);
    await untilTestsEnd();
    await execute(target, `DROP ROLE ${ROLE}`);
  }),
);

function asRole(change: (address: URL) => void = () => {}): string {
  const address = new URL(target.url);
  address.username = ROLE;
  address.password = "secret";
  change(address);
  return address.href;
}

const limit = (connections: number) => execute(target, `ALTER ROLE ${ROLE} CONNECTION LIMIT ${connections}`);
const search = (path: string) =>
  execute(target, `ALTER DATABASE ${new URL(target.url).pathname.slice(1)} SET search_path = ${path}`);

describe("the first connection to PostgreSQL", () => {
  it("a connection is retried for longer where the server is full than where it does not answer", async () => {
    await limit(0);
    try {
      const connecting = firstConnection(asRole(), undefined, { ...LONG, unansweredMs: 0 });
      const early = await Promise.race([
        connecting.then(() => "connected"),
        new Promise((resolve) => setTimeout(resolve, 150, "waiting")),
      ]);
      expect(early).toBe("waiting");
      await limit(-1);
      expect((await connecting).durabilityWarnings).toEqual([]);
    } finally {
      await limit(-1);
    }
  });

  it.each<[string, (address: URL) => void, string | undefined, RegExp]>([
    ["the password is wrong", (address) => (address.password = "wrong"), undefined, /password/],
    ["the database is absent", (address) => (address.pathname = "/absent"), undefined, /"absent" does not exist/],
    ["the host is unknown", (address) => (address.hostname = "absent.invalid"), undefined, /ENOTFOUND/],
    ["the role may make no schema", () => {}, "mine", /permission denied/],
    [
      "no schema is there",
      (address) => address.searchParams.set("options", "-c search_path=absent"),
      undefined,
      /none of the schemas in its search_path \(absent\)/,
    ],
  ])("a connection fails at once where %s", async (_title, change, schema, why) => {
    await expect(firstConnection(asRole(change), schema, LONG)).rejects.toThrow(why);
  });

  it.skipIf(inject("postgresCaFile") === undefined)(
    "a connection fails at once where the certificate is for another name",
    async () => {
      const url = asRole((address) => {
        address.hostname = "127.0.0.1";
        address.searchParams.set("sslmode", "verify-full");
        address.searchParams.set("sslrootcert", inject("postgresCaFile") ?? "");
      });
      await expect(firstConnection(url, undefined, LONG)).rejects.toThrow("not in the cert's list");
    },
  );

  it.each([
    ["public", "public, pg_temp"],
    ["public, pg_temp, pg_catalog", "public, pg_catalog, pg_temp"],
    ['pg_temp, public, "pg_temp"', "public, pg_temp"],
  ])(
    "a search path of %s becomes %s for later connections, so that no temporary table comes first",
    async (path, settled) => {
      await search(path);
      try {
        expect((await firstConnection(target.url, undefined)).settings.search_path).toBe(settled);
      } finally {
        await search("DEFAULT");
      }
    },
  );

  it("an idle connection that the server ends affects nothing else", async () => {
    const name = await withConnection(target.url, { connectMs: LONG_MS }, async (client) => {
      const { rows } = await client.query("SELECT pg_backend_pid() AS pid");
      const ending = new Promise<void>((resolve) => client.once("end", resolve));
      await execute(target, `SELECT pg_terminate_backend(${rows[0]?.pid})`);
      await ending;
      return client.query("SELECT 1").catch((error: unknown) => error);
    });
    expect(name).toBeInstanceOf(Error);
  });
});
