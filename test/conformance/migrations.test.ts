import { describe, expect, it } from "vitest";
import { type HandlerMigration, type Migration, sql } from "../../src/store/index.ts";
import { checkTarget } from "../support/check-target.ts";
import { DIALECTS, openTarget, STAMP, type StoreOptions, type Target, withDatabase } from "../support/databases.ts";
import { countOf, rowsOf } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { inspectTarget } from "../support/inspect-target.ts";
import { NEWEST, SCHEMA } from "../support/schema-steps.ts";

function creating(name: string, statement: string): Migration {
  return {
    name,
    async up({ query }) {
      await sql.raw(statement).execute(query);
    },
  };
}

describe.each(DIALECTS)("migrations on %s", (dialect) => {
  it("migrations are applied in order, once", () =>
    withDatabase(dialect, async (target) => {
      const migrations = [
        creating("one", "CREATE TABLE one (n integer)"),
        creating("two", "INSERT INTO one VALUES (1)"),
      ];
      const first = await openTarget(target, { migrations });
      await first.store.close();
      const second = await openTarget(target, { migrations });
      await second.store.close();
      expect(first.applied).toEqual([...SCHEMA, "one", "two"]);
      expect(second.applied).toEqual([]);
      expect(await countOf(target, "one")).toBe(1);
    }));

  it("several processes that start at once apply migrations once", () =>
    withDatabase(dialect, async (target) => {
      const migrations = [creating("one", "CREATE TABLE one (n integer)")];
      const opened = await Promise.all([1, 2, 3, 4].map(() => openTarget(target, { migrations })));
      for (const { store } of opened) await store.close();
      expect(opened.flatMap(({ applied }) => applied).sort()).toEqual([...SCHEMA, "one"]);
    }));

  it("a migration that fails is named, and none of them changes anything", () =>
    withDatabase(dialect, async (target) => {
      const migrations = [creating("good", "CREATE TABLE good (n integer)"), creating("bad", "CREATE NONSENSE")];
      await expect(openTarget(target, { migrations })).rejects.toThrow('migration "bad" failed, nothing was changed');
      const { store, applied } = await openTarget(target, { migrations: migrations.slice(0, 1) });
      await store.close();
      expect(applied).toEqual([...SCHEMA, "good"]);
    }));

  const ofHandler = (handler: string, table: string) => ({
    ...creating("parcels", `CREATE TABLE ${table} (n integer)`),
    handlers: [handler],
  });
  const applied = async (target: Target, migrations: readonly HandlerMigration[]) => {
    const { store, applied } = await openTarget(target, { migrations });
    await store.close();
    return applied;
  };
  it("migrations of one name by two handlers are both applied, once", () =>
    withDatabase(dialect, async (target) => {
      const both = [ofHandler("shipped", "one"), ofHandler("returned", "two")];
      expect(await applied(target, both)).toEqual([...SCHEMA, "parcels", "parcels"]);
      expect(await applied(target, both.toReversed())).toEqual([]);
      expect(await countOf(target, "one")).toBe(0);
      expect(await countOf(target, "two")).toBe(0);
    }));

  it("migrations that several handlers list are applied once, whichever handler remains", () =>
    withDatabase(dialect, async (target) => {
      const shared = (...handlers: string[]) => ({ ...ofHandler("", "one"), handlers });
      expect(await applied(target, [shared("shipped", "returned")])).toEqual([...SCHEMA, "parcels"]);
      expect(await applied(target, [shared("returned", "lost")])).toEqual([]);
      expect(await applied(target, [shared("lost")])).toEqual([]);
    }));

  it("a database of a development schema is refused with the remedy, and left unchanged", () =>
    withDatabase(dialect, async (target) => {
      for (const statement of [
        "CREATE TABLE oncehook_schema (number integer PRIMARY KEY, name text NOT NULL, applied_at text NOT NULL)",
        "INSERT INTO oncehook_schema VALUES (13, 'migrations-of-handlers', '2026-01-01T00:00:00Z')",
        "CREATE TABLE oncehook_settings (name text PRIMARY KEY, value text NOT NULL)",
        "CREATE TABLE oncehook_records (id integer)",
      ])
        await execute(target, statement);
      const message =
        "the database has schema 13, of a development version before the first release, which this version cannot upgrade. " +
        "Use a new database: another file, or another DATABASE_SCHEMA.";
      await expect(openTarget(target)).rejects.toThrow(`DATABASE_URL: ${message}`);
      await expect(inspectTarget(target)).rejects.toThrow(message);
      await expect(checkTarget(target)).rejects.toThrow(message);
      expect(await rowsOf(target, "SELECT * FROM oncehook_settings")).toEqual([]);
      await expect(rowsOf(target, "SELECT * FROM oncehook_handler_migrations")).rejects.toThrow();
    }));

  it("a database with a newer schema is refused and left unchanged", () =>
    withDatabase(dialect, async (target) => {
      await (await openTarget(target)).store.close();
      await execute(target, "INSERT INTO oncehook_schema VALUES (999, 'future', '2030-01-01T00:00:00Z')");
      const before = await rowsOf(target, "SELECT * FROM oncehook_settings ORDER BY name");
      const refused = openTarget(target, {
        stamp: { ...STAMP, keys: { current: "key-2", previous: ["key-1"] } },
      });
      await expect(refused).rejects.toThrow(`the database has schema 999, this version of Oncehook knows ${NEWEST}`);
      expect(await rowsOf(target, "SELECT * FROM oncehook_settings ORDER BY name")).toEqual(before);
    }));

  it("a database with an unfinished copy is refused, except for the copy itself", () =>
    withDatabase(dialect, async (target) => {
      await (await openTarget(target)).store.close();
      await execute(target, "INSERT INTO oncehook_settings VALUES ('unfinished_copy', '{}')");
      await expect(openTarget(target)).rejects.toThrow("a copy into this database has not finished");
      await (await openTarget(target, { stamp: { ...STAMP, continuesCopy: true } })).store.close();
    }));

  it("a database of another environment is refused", () =>
    withDatabase(dialect, async (target) => {
      await (await openTarget(target)).store.close();
      const refused = openTarget(target, { stamp: { ...STAMP, environment: "production" } });
      await expect(refused).rejects.toThrow(
        'belongs to the environment "test", this process runs with APP_ENV=production',
      );
    }));

  it("migrations return the base address that the database had before", () =>
    withDatabase(dialect, async (target) => {
      const first = await openTarget(target);
      await first.store.settings.noteBaseUrl("http://127.0.0.1:8080");
      await first.store.settings.noteBaseUrl("http://127.0.0.1:9");
      await first.store.close();
      const second = await openTarget(target);
      await second.store.close();
      expect(first.previousBaseUrl).toBeUndefined();
      expect(second.previousBaseUrl).toBe("http://127.0.0.1:9");
    }));

  const keyed = (current: string, ...previous: string[]) => ({
    stamp: { ...STAMP, keys: { current, previous } },
  });
  const opened = async (target: Target, options: StoreOptions) => (await openTarget(target, options)).store.close();

  it("a key that the database was not last used with is refused, and nothing changes", () =>
    withDatabase(dialect, async (target) => {
      await opened(target, keyed("key-1"));
      const before = await rowsOf(target, "SELECT * FROM oncehook_settings ORDER BY name");
      await expect(opened(target, keyed("key-2", "key-3"))).rejects.toThrow(
        "ENCRYPTION_KEY: this database was last used with another key",
      );
      expect(await rowsOf(target, "SELECT * FROM oncehook_settings ORDER BY name")).toEqual(before);
      await opened(target, keyed("key-1"));
    }));

  it("a new key is accepted with the old one as previous, and known from then on", () =>
    withDatabase(dialect, async (target) => {
      await opened(target, keyed("key-1"));
      await opened(target, keyed("key-2", "key-1"));
      await opened(target, keyed("key-2"));
      await expect(opened(target, keyed("key-1"))).rejects.toThrow("ENCRYPTION_KEY: ");
    }));

  it("the configured key is accepted where none is known yet, and any key with the operator's flag", () =>
    withDatabase(dialect, async (target) => {
      await opened(target, keyed("key-1"));
      await execute(target, "DELETE FROM oncehook_settings WHERE name = 'key_id'");
      await opened(target, keyed("key-2"));
      await expect(opened(target, keyed("key-1"))).rejects.toThrow("ENCRYPTION_KEY: ");
      await opened(target, {
        stamp: { ...STAMP, keys: { current: "key-3", previous: [], acceptNew: true } },
      });
      await opened(target, keyed("key-3"));
    }));

  it("one of two keys wins where two processes start at once on a new database", () =>
    withDatabase(dialect, async (target) => {
      const ends = await Promise.allSettled([opened(target, keyed("key-1")), opened(target, keyed("key-2"))]);
      expect(ends.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    }));
});
