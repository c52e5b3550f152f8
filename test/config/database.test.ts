import { describe, expect, it } from "vitest";
import { ConfigError, loadConfig, loadDatabase } from "../../src/config/index.ts";
import { BASE, PRODUCTION, problems } from "../support/configuration.ts";

const REMOTE = "postgres://u:pw@db.example.com:5432/x";
const withDatabase = (url: string, more: Record<string, string> = {}) =>
  problems({ ...PRODUCTION, DATABASE_URL: url, ...more });
const unverified = (host: string) => [
  expect.stringContaining(`DATABASE_URL: leads over a network, to ${host}, without verified TLS`),
];

describe("a PostgreSQL over a network in production", () => {
  it.each([
    ["no sslmode", REMOTE, "db.example.com"],
    ["sslmode=require", `${REMOTE}?sslmode=require`, "db.example.com"],
    ["sslmode=no-verify", `${REMOTE}?sslmode=no-verify`, "db.example.com"],
    ["a second sslmode", `${REMOTE}?sslmode=verify-full&sslmode=disable`, "db.example.com"],
    ["a host in the query", "postgres://u:pw@localhost/x?host=10.0.0.7", "10.0.0.7"],
    ["a bare name", "postgres://u:pw@postgres/x", "postgres"],
  ])("a remote PostgreSQL is refused with %s", (_, url, host) => {
    expect(withDatabase(url)).toEqual(unverified(host));
    expect(JSON.stringify(withDatabase(url))).not.toContain("pw");
  });

  it("a remote PostgreSQL is refused where PGHOST names its host", () => {
    expect(withDatabase("postgres:///x", { PGHOST: "10.0.0.7" })).toEqual(unverified("10.0.0.7"));
  });

  it("a remote PostgreSQL is accepted with sslmode=verify-full, or with DATABASE_TLS=off", () => {
    const ca = `${REMOTE}?sslmode=verify-full&sslrootcert=/etc/ca.pem`;
    const verified = loadConfig({ ...PRODUCTION, DATABASE_URL: ca });
    expect(verified.database).toMatchObject({ unverifiedHost: null });
    const off = loadConfig({ ...PRODUCTION, DATABASE_URL: REMOTE, DATABASE_TLS: "off" });
    expect(off.database).toMatchObject({ unverifiedHost: "db.example.com" });
  });

  it.each([
    "postgres://u:pw@127.0.0.1/x",
    "postgres://u:pw@[::1]:5432/x",
    "postgres://localhost/x",
    "postgres:///x?host=/var/run/postgresql",
    "postgres://u:pw@/x?host=/var/run/postgresql",
    "postgres://u@%2Fvar%2Frun%2Fpostgresql/x",
    "sqlite:./data/oncehook.db",
  ])("a database on this machine needs no TLS: %s", (url) => {
    expect(withDatabase(url)).toEqual([]);
  });

  it("a remote PostgreSQL is refused to maintenance commands as well", () => {
    const given = { APP_ENV: "production", DATABASE_URL: REMOTE };
    expect(() => loadDatabase(given)).toThrow(ConfigError);
    expect(loadDatabase({ ...given, DATABASE_TLS: "off" }).database).toMatchObject({ kind: "postgres" });
  });

  it("development accepts a remote PostgreSQL without TLS", () => {
    expect(problems({ ...BASE, DATABASE_URL: REMOTE })).toEqual([]);
  });
});

describe("DATABASE_SCHEMA", () => {
  it("DATABASE_SCHEMA is refused on SQLite, which has no schemas", () => {
    expect(problems({ ...BASE, DATABASE_SCHEMA: "oncehook" })).toEqual([
      expect.stringContaining("DATABASE_SCHEMA: is set, but DATABASE_URL names SQLite"),
    ]);
  });

  it.each(["pg_mine", "information_schema", "x".repeat(64)])("DATABASE_SCHEMA refuses the name %j", (schema) => {
    expect(problems({ ...BASE, DATABASE_URL: REMOTE, DATABASE_SCHEMA: schema })).toEqual([
      expect.stringMatching(/^DATABASE_SCHEMA: got .*, expected the name of a schema/),
    ]);
  });

  it("maintenance commands read DATABASE_SCHEMA", () => {
    const { database } = loadDatabase({ DATABASE_URL: REMOTE, DATABASE_SCHEMA: "oncehook" });
    expect(database).toMatchObject({ schema: "oncehook" });
  });
});

describe("the built-in handlers of a project with handlers of its own", () => {
  const own = { handlers: [{ type: "parcel_shipped", handle: () => ({}) }] };

  it("the built-in handlers are off in a project of its own, except those that HANDLERS names", () => {
    expect(loadConfig(BASE, own).builtInHandlers).toEqual([]);
    expect(loadConfig({ ...BASE, HANDLERS: "payment_notify" }, own).builtInHandlers).toEqual(["payment_notify"]);
    expect(loadConfig(BASE, { handlers: [] }).builtInHandlers).toHaveLength(3);
  });

  it("production needs no OAuth server where user_authorized is off", () => {
    const { OAUTH_TOKEN_URL: _url, OAUTH_CLIENT_ID: _id, OAUTH_CLIENT_SECRET: _secret, ...env } = PRODUCTION;
    expect(() => loadConfig(env)).toThrow("OAUTH_ISSUER");
    expect(loadConfig(env, own).builtInHandlers).toEqual([]);
  });
});
