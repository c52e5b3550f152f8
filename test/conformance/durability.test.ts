import pg from "pg";
import { describe, expect, inject, it } from "vitest";
import { keyIdOf } from "../../src/seal/index.ts";
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

describe("what PostgreSQL must promise", () => {
  it("is warned about outside production and refused in production", () =>
    withDatabase("postgres", async (target) => {
      const name = new URL(target.url).pathname.slice(1);
      await execute(target, `ALTER DATABASE ${name} SET synchronous_commit = off`);
      const { store, durabilityWarnings } = await openTarget(target, {
        stamp: {
          environment: "production",
          keys: { current: keyIdOf(Buffer.from(KEY, "base64")), previous: [] },
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

  it("is warned about where COMMIT waits for no standby", () =>
    withDatabase("postgres", async (target) => {
      const name = new URL(target.url).pathname.slice(1);
      await execute(target, `ALTER DATABASE ${name} SET synchronous_commit = local`);
      const { store, durabilityWarnings } = await openTarget(target);
      await store.close();
      expect(durabilityWarnings).toEqual([
        "PostgreSQL runs with synchronous_commit=local: an acknowledged event may be lost in a crash; set it on",
      ]);
    }));

  it("includes every character: another encoding is refused", async () => {
    const client = new pg.Client({ connectionString: inject("postgresUrl") });
    await client.connect();
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
      await client.end();
    }
  });
});
