import { drizzle } from "drizzle-orm/node-postgres";
import Knex from "knex";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import older from "pg-older";
import postgres from "postgres";
import { DataSource } from "typeorm";
import { describe, expect, it } from "vitest";
import { poolSettingsOf } from "../../src/config/index.ts";
import { openPostgresStore } from "../../src/store/postgres/index.ts";
import { systemClock } from "../../src/system/index.ts";
import { STAMP, withMigrated } from "../../test/support/databases.ts";
import { addEffect, committing, countOf, EFFECTS, newRecord } from "../../test/support/effects.ts";
import { runOnce } from "../../test/support/once.ts";

const LIMITS = { poolSize: 3, statementTimeoutMs: 10_000, lockTimeoutMs: 3_000 };

describe("the application's database as `database`", () => {
  it("the settings of a pool of pg 8.13, and of a second copy of pg, open a store with Oncehook's own driver", () =>
    withMigrated("postgres", async (target) => {
      for (const [index, { Pool }] of [older, pg].entries()) {
        const { hostname: host, port, username: user, password, pathname } = new URL(target.url);
        const pool = new Pool({ host, port: Number(port), user, password, database: pathname.slice(1) });
        const connection = poolSettingsOf(pool);
        const opening = { ...LIMITS, clock: systemClock, migrations: [EFFECTS], stamp: STAMP };
        const { store } = await openPostgresStore({ ...opening, connection });
        try {
          const id = `e${index}`;
          await runOnce(store, newRecord(id), (scope) => addEffect(scope, id), committing());
        } finally {
          await store.close();
          await pool.end();
        }
      }
      expect(await countOf(target, "effects")).toBe(2);
    }));

  const pool = new pg.Pool();
  it.each<[string, unknown, RegExp]>([
    ["Drizzle", drizzle(pool), /a Drizzle database.*`db\.\$client`/],
    ["Kysely", new Kysely({ dialect: new PostgresDialect({ pool }) }), /a Kysely.*pass the pool/],
    ["Knex", Knex({ client: "pg" }), /a Knex.*`connection` settings/],
    ["TypeORM", new DataSource({ type: "postgres" }), /a TypeORM DataSource/],
    ["postgres.js", postgres({ host: "localhost" }), /the `sql` of postgres\.js/],
    ["an older pg's client", new older.Client(), /a `pg` client/],
  ])("an object of %s is refused with what to pass in its place", (_, value, why) => {
    expect(() => poolSettingsOf(value)).toThrow(why);
  });
});
