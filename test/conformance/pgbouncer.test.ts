import { describe, expect, it } from "vitest";
import { migrate, runDoctor } from "../../src/app/index.ts";
import { openCopyTarget } from "../../src/store/copy/index.ts";
import { notRun } from "../deploy/on-the-path.ts";
import { checkTarget } from "../support/check-target.ts";
import { runChild } from "../support/child.ts";
import { openTarget, withDatabase } from "../support/databases.ts";
import { committing, countOf, EFFECTS, newRecord, rowsOf } from "../support/effects.ts";
import { runOnce } from "../support/once.ts";
import { PGBOUNCER, withPgbouncer } from "../support/pgbouncer.ts";
import { testConfig } from "../support/receiver.ts";

describe("PostgreSQL behind PgBouncer in transaction mode", () => {
  if (PGBOUNCER === undefined) {
    it.skip(notRun("pgbouncer", "processes behind a real PgBouncer"), () => {});
    return;
  }

  /** Two processes in one schema, and a third one in another, as different as their handlers' texts. */
  const share = (ms: number) =>
    withDatabase("postgres", (target) =>
      withPgbouncer(target.url, async (url) => {
        const processes = [
          ["shop", "ann"],
          ["shop", "bob"],
          ["other", "eve"],
        ] as const;
        const handled = await Promise.all(
          processes.map(async ([schema, author]) => {
            const { stdout, stderr } = await runChild("test/support/pooled-child.ts", [
              ...[url, schema, author, String(ms)],
            ]);
            expect(stderr).toBe("");
            return Number(stdout);
          }),
        );
        for (const [index, [schema, author]] of processes.entries()) {
          const events = `event_id LIKE '${author}-%'`;
          const rows = await rowsOf(
            target,
            `SELECT (SELECT count(*) FROM ${schema}.effects WHERE ${events} AND note = '${author}')::int AS effects,
              (SELECT count(DISTINCT event_id) FROM ${schema}.effects WHERE ${events})::int AS events,
              (SELECT count(*) FROM ${schema}.oncehook_records WHERE source = '${author}'
                AND status = 'completed' AND result::jsonb ->> 'author' = '${author}')::int AS records,
              (SELECT count(*) FROM ${schema}.oncehook_notifications WHERE source = '${author}'
                AND payload::jsonb = '{"author": "${author}", "place": "${schema}"}')::int AS notified`,
          );
          const count = handled[index] ?? 0;
          expect(count).toBeGreaterThan(90);
          const notified = Math.floor(count / 4);
          expect(rows).toEqual([{ effects: count, events: count, records: count, notified }]);
        }
        for (const [schema, authors] of [
          ["shop", 2],
          ["other", 1],
        ] as const)
          expect(await rowsOf(target, `SELECT count(DISTINCT note)::int AS authors FROM ${schema}.effects`)).toEqual([
            { authors },
          ]);
        expect(await countOf(target, "pg_tables", "schemaname = 'public'")).toBe(0);
      }),
    );

  it(
    "processes with different handlers each run their own statements, in their own schema",
    { tags: "full", timeout: 60_000 },
    () => share(500),
  );

  it(
    "processes with different handlers each run their own statements for twenty seconds",
    { tags: "full", timeout: 180_000 },
    () => share(20_000),
  );

  it("a start behind PgBouncer needs no startup parameter; one of the address's own is named where it is refused", () =>
    withDatabase("postgres", (target) =>
      withPgbouncer(target.url, async (url) => {
        const config = testConfig({ dialect: "postgres", url }, { DATABASE_SCHEMA: "shop" });
        await migrate({ config, handlers: [], migrations: [] });
        expect(await countOf(target, "shop.oncehook_schema")).toBeGreaterThan(0);
        expect(await runDoctor(config, [], [])).not.toContainEqual(expect.objectContaining({ level: "failure" }));
        expect((await checkTarget({ dialect: "postgres", url }, "shop")).invariants).not.toEqual([]);
        const asked = testConfig(
          { dialect: "postgres", url: `${url}?options=-c%20timezone%3DAsia/Tokyo` },
          { DATABASE_SCHEMA: "shop" },
        );
        await expect(migrate({ config: asked, handlers: [], migrations: [] })).rejects.toThrow(
          /startup parameter.*options.*ignore_startup_parameters = options/,
        );
      }),
    ));

  it("a handler's settings, roles and temporary tables end with its event, and its limits hold", { tags: "full" }, () =>
    withDatabase("postgres", (target) =>
      withPgbouncer(
        target.url,
        async (url) => {
          const options = { migrations: [EFFECTS], schema: "shop", poolSize: 2, statementTimeoutMs: 700 };
          const { store } = await openTarget({ dialect: "postgres", url }, options);
          try {
            const run = (id: string, ...texts: string[]) =>
              runOnce(
                store,
                newRecord(id),
                async ({ tx }) => {
                  let rows: readonly unknown[] = [];
                  for (const text of texts) ({ rows } = await tx.execute(text));
                  return { result: { ...(rows[0] as Record<string, string>) } };
                },
                committing(),
              );
            const session = `SELECT current_setting('search_path') AS path, current_setting('work_mem') AS memory,
              current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock,
              to_regclass('pg_temp.hidden')::text AS hidden`;
            const first = await run("e1", session);
            expect(first).toMatchObject({
              result: {
                path: '"shop", "$user", public, pg_temp',
                statement: "700ms",
                lock: "3s",
                hidden: null,
              },
            });
            await run(
              "e2",
              "SELECT set_config('work_mem', '65kB', false), set_config('search_path', 'public', false)",
              "CREATE TEMP TABLE hidden (id integer)",
              "LISTEN something",
            );
            expect(await run("e3", session)).toEqual(first);
            await expect(run("e4", "SELECT pg_sleep(5)")).rejects.toThrow("statement timeout");
            for (const text of ["PREPARE mine AS SELECT 1", "SELECT pg_advisory_lock(1)"])
              await expect(run("e5", text)).rejects.toThrow("behind a pooler");
            expect(await countOf(target, "shop.oncehook_records")).toBe(3);
            expect(await rowsOf(target, "SELECT to_regclass('public.oncehook_records') AS elsewhere")).toEqual([
              { elsewhere: null },
            ]);
          } finally {
            await store.close();
          }
        },
        // One connection, so that each event has what the one before left.
        ["default_pool_size = 1"],
      ),
    ),
  );

  it("a copy into a database behind a pooler is refused before anything is read", () =>
    withDatabase("postgres", (target) =>
      withPgbouncer(target.url, async (url) => {
        await expect(openCopyTarget(url)).rejects.toThrow("a pooler is between");
      }),
    ));
});
