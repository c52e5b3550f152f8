import { readFile } from "node:fs/promises";
import pg from "pg";
import { describe, expect, inject, it } from "vitest";
import { poolSettingsOf } from "../../src/config/index.ts";
import type { Store } from "../../src/store/index.ts";
import { openPostgresStore } from "../../src/store/postgres/index.ts";
import { systemClock } from "../../src/system/index.ts";
import { STAMP, withMigrated } from "../support/databases.ts";
import { addEffect, committing, EFFECTS, newRecord, rowsOf } from "../support/effects.ts";
import { runOnce } from "../support/once.ts";

const LIMITS = { poolSize: 3, statementTimeoutMs: 10_000, lockTimeoutMs: 3_000 };
const OPENING = { ...LIMITS, clock: systemClock, migrations: [EFFECTS], stamp: STAMP };

async function withStoreOf(value: Parameters<typeof poolSettingsOf>[0], use: (store: Store) => Promise<void>) {
  const { store } = await openPostgresStore({ ...OPENING, connection: poolSettingsOf(value) });
  try {
    await use(store);
  } finally {
    await store.close();
  }
}

const handleMany = (store: Store, count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, index) =>
      runOnce(store, newRecord(`e${index}`), (scope) => addEffect(scope, `e${index}`), committing()),
    ),
  );

function partsOf(address: string) {
  const { hostname: host, port, username: user, password, pathname } = new URL(address);
  return { host, port: Number(port), user, password, database: pathname.slice(1) };
}

describe("a store from the settings of an application's pool", () => {
  it("a password function is called for each new connection", () =>
    withMigrated("postgres", async (target) => {
      const { password, ...parts } = partsOf(target.url);
      let calls = 0;
      const giving = async () => {
        calls += 1;
        return password;
      };
      await withStoreOf({ ...parts, password: giving }, async (store) => {
        await handleMany(store, 8);
        const [row] = await rowsOf(
          target,
          "SELECT count(*)::int AS n FROM pg_stat_activity WHERE application_name = 'oncehook' AND datname = current_database()",
        );
        expect(row?.n).toBeGreaterThan(1);
        // The connections that opened the store have ended.
        expect(calls).toBe(Number(row?.n) + 2);
      });
    }));

  it("a pool's own client and session settings are not used, and three connections group events", () =>
    withMigrated("postgres", async (target) => {
      class Refused extends pg.Client {
        override connect(): never {
          throw new Error("a client of the application was used");
        }
      }
      const options = { connectionString: target.url, Client: Refused, statement_timeout: 1, max: 1 };
      await withStoreOf(new pg.Pool(options), async (store) => {
        await handleMany(store, 24);
        const [row] = await rowsOf(
          target,
          "SELECT count(*)::int AS records, count(DISTINCT xmin::text)::int AS commits FROM oncehook_records",
        );
        expect(row?.records).toBe(24);
        expect(row?.commits).toBeLessThan(24);
      });
    }));

  const ca = inject("postgresCaFile");
  it.skipIf(ca === undefined)("TLS is as `ssl` says: the certificate is verified for the host's name", () =>
    withMigrated("postgres", async (target) => {
      const parts = partsOf(target.url);
      const ssl = { ca: await readFile(ca ?? "", "utf8") };
      await withStoreOf({ ...parts, host: "localhost", ssl }, async () => {
        const [row] = await rowsOf(
          target,
          `SELECT bool_and(ssl) AS encrypted FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
            WHERE datname = current_database() AND application_name = 'oncehook'`,
        );
        expect(row).toEqual({ encrypted: true });
      });
      const opening = withStoreOf({ ...parts, ssl }, async () => {});
      await expect(opening).rejects.toThrow("IP: 127.0.0.1 is not in the cert's list");
    }),
  );
});
