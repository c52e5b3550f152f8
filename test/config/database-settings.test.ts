import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { type ConfigUse, loadConfig, poolSettingsOf } from "../../src/config/index.ts";
import { networkWarnings } from "../../src/configured/index.ts";
import type { ConnectionSettings } from "../../src/store/index.ts";

const settingsOf = (value: Parameters<typeof poolSettingsOf>[0]) =>
  (poolSettingsOf(value) as ConnectionSettings).settings;
const VARIABLES = {
  APP_ENV: "test",
  ...{ SIGNING_SECRET: "k".repeat(43), ADMIN_TOKEN: "t".repeat(43) },
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
};

/** The configuration of a receiver with this `database`. */
const configOf = (database: ConfigUse["database"], env: Record<string, string> = {}) =>
  loadConfig({ ...VARIABLES, ...env }, {}, { listens: false, database });

describe("the settings of an application's pool", () => {
  it("a pool's settings are read from its options, the password and the TLS key too, which pg hides", () => {
    const ssl = { ca: "authority", key: "private" };
    const pool = new pg.Pool({ host: "db", port: 6432, user: "app", database: "shop", password: "hush", ssl, max: 40 });
    const taken = settingsOf(pool);
    const tls = { ca: "authority", key: "private" };
    expect(taken).toEqual({ host: "db", port: 6432, user: "app", database: "shop", password: "hush", ssl: tls });
    // The driver changes the object that it gets.
    expect(taken.ssl).not.toBe(ssl);
  });

  it("a pool without options is taken, since its process has PGHOST and others", () => {
    expect(settingsOf(new pg.Pool())).toEqual({});
  });

  it.each<[string, unknown, RegExp]>([
    ["a client", new pg.Client(), /a `pg` client, which is one connection: .*pass the `pg\.Pool`/],
    [
      "an open SQLite database",
      new DatabaseSync(":memory:"),
      /SQLite \(better-sqlite3 or node:sqlite\).*a file of its own/,
    ],
    ["an empty object", {}, /without connectionString, host, user, database, stream, expected a URL/],
    ["null", null, /got null, expected a URL/],
    ["a number", 5432, /got number, expected a URL/],
    ["a host of another type", { host: ["db"] }, /host: got object, expected string/],
  ])("%s in the place of settings is refused, and the error says what to pass", (_, value, why) => {
    expect(() => poolSettingsOf(value)).toThrow(why);
  });

  it("the configuration shows no password of the settings, and its logs mask it", () => {
    const config = configOf({ host: "localhost", database: "shop", password: "correct-horse" });
    expect(JSON.stringify(config.database)).not.toContain("correct-horse");
    expect(config.secretValues).toContain("correct-horse");
  });

  it("a pool of three connections is made from settings, which is the smallest with groups, unless POOL_SIZE says more", () => {
    const database = { host: "localhost", database: "shop" };
    expect(configOf(database).database).toMatchObject({ kind: "postgres", poolSize: 3, schema: null });
    expect(configOf(database, { POOL_SIZE: "20" }).database).toMatchObject({ poolSize: 20 });
    expect(configOf("postgres://localhost/shop").database).toMatchObject({ connection: "postgres://localhost/shop" });
  });

  it("settings that lead over a network without verified TLS are warned of, and refused in production", () => {
    const remote = { host: "db.example.com", database: "shop" };
    const hostOf = (database: ConfigUse["database"]) => {
      const config = configOf(database);
      expect(networkWarnings(config.database).length).toBeLessThan(2);
      return config.database.kind === "postgres" ? config.database.unverifiedHost : undefined;
    };
    expect(hostOf(remote)).toBe("db.example.com");
    expect(hostOf({ ...remote, ssl: { rejectUnauthorized: false } })).toBe("db.example.com");
    expect(hostOf({ connectionString: "postgres://db.example.com/shop?sslmode=require", ssl: true })).toBe(
      "db.example.com",
    );
    expect(hostOf({ ...remote, ssl: { ca: "authority" } })).toBeNull();
    expect(hostOf({ connectionString: "postgres://db.example.com/shop", ssl: true })).toBeNull();
    expect(hostOf({ host: "/var/run/postgresql" })).toBeNull();
    expect(() => configOf(remote, { APP_ENV: "production" })).toThrow(
      /database: leads over a network, to db\.example\.com.*Set `ssl: true`/,
    );
  });
});
