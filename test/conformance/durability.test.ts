import pg from "pg";
import { describe, expect, inject, it } from "vitest";
import { durabilityWarnings as warningsOf } from "../../src/store/postgres/wire/first-connection.ts";
import { encryptionKeyId } from "../../src/system/encryption.ts";
import { KEY } from "../support/configuration.ts";
import { openTarget, withDatabase } from "../support/databases.ts";
import { execute } from "../support/execute.ts";
import { startReceiver } from "../support/receiver.ts";

const PRODUCTION = {
  APP_ENV: "production",
  SIGNING_SECRET: "a-production-secret-of-32-bytes-or-more",
  CALLBACK_BASE_URL: "https://pay.example.com",
  TRUST_PROXY: "127.0.0.1",
  HANDLERS: "payment_notify",
};

async function withClient(use: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: inject("postgresUrl") });
  await client.connect();
  try {
    await use(client);
  } finally {
    await client.end();
  }
}

/** For this session the server has another setting: a temporary view hides the one of the catalog. */
async function pretend(client: pg.Client, name: string, setting: string): Promise<void> {
  await client.query(`CREATE OR REPLACE TEMP VIEW pg_settings AS
    SELECT name, CASE name WHEN '${name}' THEN '${setting}' ELSE setting END AS setting
    FROM pg_catalog.pg_settings`);
}

describe("what PostgreSQL must promise", () => {
  it("an unsafe setting is warned of outside production and refused in production", () =>
    withDatabase("postgres", async (target) => {
      const name = new URL(target.url).pathname.slice(1);
      await execute(target, `ALTER DATABASE ${name} SET synchronous_commit = off`);
      const { store, durabilityWarnings } = await openTarget(target, {
        stamp: {
          environment: "production",
          keys: { current: encryptionKeyId(Buffer.from(KEY, "base64")), previous: [] },
        },
      });
      await store.close();
      expect(durabilityWarnings).toEqual([
        "PostgreSQL runs with synchronous_commit=off: an acknowledged event may be lost in a crash; set it on",
      ]);
      await expect(startReceiver(target, { env: PRODUCTION })).rejects.toThrow("synchronous_commit=off");
      await execute(target, `ALTER DATABASE ${name} RESET synchronous_commit`);
      const receiver = await startReceiver(target, { env: PRODUCTION });
      await receiver.stop();
    }));

  it("a COMMIT that waits for this server alone is warned of, since a synchronous standby's disk counts", () =>
    withClient(async (client) => {
      const warnings: Record<string, number> = {};
      for (const setting of ["off", "local", "on", "remote_write", "remote_apply"]) {
        await client.query(`SET synchronous_commit = ${setting}`);
        warnings[setting] = (await warningsOf(client)).length;
      }
      expect(warnings).toEqual({ off: 1, local: 1, on: 0, remote_write: 0, remote_apply: 0 });
    }));

  it.each(["fsync", "full_page_writes"])(
    "a warning names %s, which only a restart of the server could switch off",
    (name) =>
      withClient(async (client) => {
        await pretend(client, name, "off");
        expect(await warningsOf(client)).toEqual([expect.stringContaining(`PostgreSQL runs with ${name}=off`)]);
      }),
  );

  it("a server older than version 14 is refused", () =>
    withClient(async (client) => {
      await pretend(client, "server_version_num", "139999");
      await expect(warningsOf(client)).rejects.toThrow("the server is older than PostgreSQL 14");
      await pretend(client, "server_version_num", "140000");
      expect(await warningsOf(client)).toEqual([]);
    }));

  it("a database with another encoding is refused", () =>
    withClient(async (client) => {
      const name = `test_encoding_${process.pid}`;
      await client.query(`CREATE DATABASE ${name} ENCODING 'SQL_ASCII' TEMPLATE template0`);
      const url = new URL(inject("postgresUrl"));
      url.pathname = `/${name}`;
      try {
        await expect(openTarget({ dialect: "postgres", url: url.href })).rejects.toThrow(
          "the database's encoding is SQL_ASCII; create it with ENCODING 'UTF8'",
        );
      } finally {
        await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
      }
    }));
});
