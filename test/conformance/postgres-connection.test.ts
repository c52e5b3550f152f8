import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, inject, it } from "vitest";
import { migrate, runDoctor } from "../../src/app/index.ts";
import { connectStore } from "../../src/app/open-store.ts";
import type { Config } from "../../src/config/index.ts";
import { systemClock } from "../../src/system/index.ts";
import { certificate } from "../support/certificate.ts";
import { checkTarget } from "../support/check-target.ts";
import { DIALECTS, openTarget, type Target, withDatabase } from "../support/databases.ts";
import { addEffect, committing, countOf, EFFECTS, newRecord, rowsOf } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { withFolder } from "../support/folder.ts";
import { openForAllTests } from "../support/for-all-tests.ts";
import { freePort } from "../support/free-port.ts";
import { inspectTarget } from "../support/inspect-target.ts";
import { runOnce } from "../support/once.ts";
import { testConfig } from "../support/receiver.ts";
import { withWire } from "../support/wire.ts";

const on = (url: string, change: (address: URL) => void) => {
  const address = new URL(url);
  change(address);
  return address.href;
};
const configOf = (url: string, env: Record<string, string> = {}): Config =>
  testConfig({ dialect: "postgres", url }, env);
const migrating = (config: Config) => migrate({ config, handlers: [], migrations: [] });

let target: Target;

openForAllTests((untilTestsEnd) =>
  withDatabase("postgres", async (fresh) => {
    target = fresh;
    await untilTestsEnd();
  }),
);

describe("a PostgreSQL that cannot be used", () => {
  it.each<[string, (address: URL) => void, RegExp]>([
    ["a wrong password", (address) => (address.password = "wrong"), /password authentication failed for user/],
    ["an unknown role", (address) => (address.username = "no one"), /authentication failed for user "no one"/],
    ["an unknown database", (address) => (address.pathname = "/absent"), /database "absent" does not exist/],
    ["an unknown host", (address) => (address.host = "absent.invalid:5432"), /ENOTFOUND absent.invalid/],
  ])("the error names %s as the cause at once", async (_, change, cause) => {
    const begun = performance.now();
    await expect(migrating(configOf(on(target.url, change)))).rejects.toThrow(cause);
    expect(performance.now() - begun).toBeLessThan(3_000);
  });

  it("the error names a port without a listener, and one without a response, within three seconds", {
    tags: "full",
  }, async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as { port: number };
    const causes: [number, RegExp][] = [
      [await freePort(), /ECONNREFUSED/],
      [port, /timeout|terminated/i],
    ];
    await Promise.all(
      causes.map(async ([at, cause]) => {
        const begun = performance.now();
        const config = configOf(on(target.url, (address) => (address.host = `127.0.0.1:${at}`)));
        await expect(migrating(config)).rejects.toThrow(cause);
        // On a busy machine a timer comes late; before, it took ten seconds.
        expect(performance.now() - begun).toBeLessThan(6_000);
      }),
    );
    silent.close();
  });
});

describe("a PostgreSQL over TLS", () => {
  const ca = inject("postgresCaFile");
  const over = (name: string, file: string) =>
    on(target.url, (address) => {
      address.hostname = name;
      address.searchParams.set("sslmode", "verify-full");
      address.searchParams.set("sslrootcert", file);
    });

  it.skipIf(ca === undefined)(
    "a connection is made where the server's certificate fits its name and the given authority",
    async () => {
      const { store } = await connectStore(configOf(over("localhost", ca ?? "")), [], systemClock);
      const [row] = await rowsOf(
        target,
        `SELECT bool_and(ssl) AS encrypted FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE datname = current_database() AND application_name = 'oncehook'`,
      );
      await store.close();
      expect(row).toEqual({ encrypted: true });
    },
  );

  it.skipIf(ca === undefined)(
    "a certificate of another name or another authority is refused at once with the cause",
    { tags: "full" },
    () =>
      withFolder(async (folder) => {
        const other = join(folder, "other.pem");
        await writeFile(other, (await certificate("other")).cert);
        const refusals: [string, RegExp][] = [
          [
            over("127.0.0.1", ca ?? ""),
            /IP: 127\.0\.0\.1 is not in the cert's list.*sslmode=verify-full wants a certificate/s,
          ],
          [over("localhost", other), /self-signed certificate.*that in sslrootcert/s],
          [over("localhost", join(folder, "absent.pem")), /no such file or directory.*absent\.pem/],
        ];
        for (const [url, cause] of refusals) await expect(migrating(configOf(url))).rejects.toThrow(cause);
        const [refused] = refusals;
        const findings = await runDoctor(configOf(refused?.[0] ?? ""), [], []);
        expect(findings).toContainEqual(
          expect.objectContaining({
            level: "failure",
            check: "database",
            message: expect.stringMatching(refused?.[1] ?? ""),
          }),
        );
      }),
  );
});

describe.each(DIALECTS)("a table of the user's own on %s that a built-in handler would make", (dialect) => {
  it("doctor names the table before the start, the start does too, and both say how to leave the handler out", () =>
    withDatabase(dialect, async (fresh) => {
      // A file that holds other tables and none of Oncehook's is refused for that.
      if (dialect === "sqlite") await migrating(testConfig(fresh, { HANDLERS: "none" }));
      await execute(fresh, "CREATE TABLE users (id integer)");
      const says = expect.stringContaining("HANDLERS=payment_notify,webhook_message");
      const config = testConfig(fresh);
      const failure = { level: "failure", check: "database", message: says };
      expect(await runDoctor(config, [], [])).toContainEqual(failure);
      await expect(migrating(config)).rejects.toThrow(
        /users.* already exists; leave the built-in handler user_authorized out/,
      );

      const without = testConfig(fresh, { HANDLERS: "payment_notify,webhook_message" });
      expect(await runDoctor(without, [], [])).not.toContainEqual(expect.objectContaining({ level: "failure" }));
      await migrating(without);
      // Oncehook's own tables are in nobody's way.
      expect(await runDoctor(without, [], [])).not.toContainEqual(expect.objectContaining({ level: "failure" }));
      expect(await runDoctor(config, [], [])).toContainEqual(failure);
    }));
});

describe("DATABASE_SCHEMA", () => {
  const schema = 'my "own" Schema';

  it("DATABASE_SCHEMA holds every table, beside a user's own of the same names, for every client", () =>
    withDatabase("postgres", async (fresh) => {
      await execute(fresh, "CREATE TABLE users (id integer); CREATE TABLE effects (mine text)");
      const config = testConfig(fresh, { DATABASE_SCHEMA: schema });
      expect(await inspectTarget(fresh, schema)).toMatchObject({ exists: false });
      await migrating(config);
      const { store } = await connectStore(config, [EFFECTS], systemClock);
      try {
        const ids = Array.from({ length: 6 }, (_, index) => `e${index}`);
        await Promise.all(
          ids.map((id) => runOnce(store, newRecord(id), (scope) => addEffect(scope, id), committing())),
        );
        // A setting of a handler's leads nowhere else, nor does what its connection is reset to.
        await runOnce(
          store,
          newRecord("s"),
          async (scope) => {
            await scope.tx.execute("SELECT set_config('search_path', 'public', false)");
            return { result: {} };
          },
          committing(),
        );
        await runOnce(store, newRecord("e6"), (scope) => addEffect(scope, "e6"), committing());
        await store.ping();
      } finally {
        await store.close();
      }
      const places = await rowsOf(
        fresh,
        `SELECT nspname AS place, array_agg(relname::text ORDER BY relname) FILTER (WHERE relname NOT LIKE 'oncehook%') AS others,
          count(*) FILTER (WHERE relname LIKE 'oncehook%')::int > 10 AS ours
          FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
          WHERE relkind = 'r' AND nspname IN ('public', ${pg.escapeLiteral(schema)}) GROUP BY nspname ORDER BY nspname`,
      );
      expect(places).toEqual([
        {
          place: schema,
          others: ["children", "effects", "messages", "orders", "parents", "users"],
          ours: true,
        },
        { place: "public", others: ["effects", "users"], ours: false },
      ]);
      expect(await countOf(fresh, `${pg.escapeIdentifier(schema)}.effects`)).toBe(7);
      expect(await inspectTarget(fresh, schema)).toMatchObject({ exists: true });
      expect(await inspectTarget(fresh)).toMatchObject({ exists: false });
      const { contents, invariants } = await checkTarget(fresh, schema);
      expect(contents?.records).toBe(8);
      expect(invariants.filter(({ violations }) => violations > 0)).toEqual([]);
      expect(await runDoctor(config, [], [])).not.toContainEqual(expect.objectContaining({ level: "failure" }));
    }));

  it("processes that start at the same time create the schema once", () =>
    withDatabase("postgres", async (fresh) => {
      const config = testConfig(fresh, { DATABASE_SCHEMA: "oncehook" });
      await Promise.all([migrating(config), migrating(config), migrating(config)]);
      expect(await countOf(fresh, "oncehook.oncehook_schema")).toBeGreaterThan(0);
    }));

  it("a start refuses a pooler that drops DATABASE_SCHEMA, and makes no table elsewhere", () =>
    withDatabase("postgres", (fresh) =>
      withWire(fresh.url, async (wire) => {
        // The start of a session alone is changed: a setting of the same length that nothing reads.
        wire.replace(/-c search_path=/g, () => "-c app.ignored=");
        const config = testConfig({ ...fresh, url: wire.through(fresh.url) }, { DATABASE_SCHEMA: "oncehook" });
        await expect(migrating(config)).rejects.toThrow(/DATABASE_SCHEMA: .*pooler/);
        expect(await countOf(fresh, "pg_class", "relname = 'oncehook_schema'")).toBe(0);
      }),
    ));

  it("a start refuses a missing schema instead of making its tables temporary", () =>
    withDatabase("postgres", async (fresh) => {
      await execute(fresh, "DROP SCHEMA public");
      await expect(migrating(testConfig(fresh))).rejects.toThrow("set DATABASE_SCHEMA");
      await migrating(testConfig(fresh, { DATABASE_SCHEMA: "oncehook" }));
    }));

  it("a start keeps the options that the address already has", () =>
    withDatabase("postgres", async (fresh) => {
      const url = on(fresh.url, (address) => address.searchParams.set("options", "-c timezone=Asia/Tokyo"));
      const { store } = await openTarget({ ...fresh, url }, { schema: "oncehook" });
      const ending = await runOnce(
        store,
        newRecord("e1"),
        async ({ tx }) => {
          const { rows } = await tx.execute(
            "SELECT current_setting('timezone') AS zone, current_setting('search_path') AS path",
          );
          return { result: rows[0] as Record<string, string> };
        },
        committing(),
      );
      await store.close();
      expect(ending).toMatchObject({
        result: { zone: "Asia/Tokyo", path: '"oncehook", "$user", public, pg_temp' },
      });
    }));
});
