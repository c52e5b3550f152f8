import type pg from "pg";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { SynchronousStandbys } from "../../src/store/postgres/synchronous-standbys.ts";
import { transientReason } from "../../src/store/postgres/wire/database-errors.ts";
import { createPool, withClient } from "../../src/store/postgres/wire/pool.ts";
import { setResponseTimeout } from "../../src/store/postgres/wire/statement.ts";
import { retryUntil } from "../../src/store/retry-until.ts";
import { type Target, withDatabase } from "../support/databases.ts";
import { countOf, within } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { openForAllTests } from "../support/for-all-tests.ts";
import { withWire } from "../support/wire.ts";

/** Found before the server's own of these names: what it says of its standbys is what the table says. */
const PRETENDED = `CREATE SCHEMA pretended;
  CREATE TABLE pretended.server (standbys text NOT NULL, is_well boolean NOT NULL);
  INSERT INTO pretended.server VALUES ('', true);
  CREATE TABLE pretended.commits (id integer);
  CREATE FUNCTION pretended.current_setting(text) RETURNS text LANGUAGE plpgsql AS $$BEGIN
    PERFORM pg_sleep(0.05), 1 / is_well::int FROM pretended.server WHERE NOT is_well;
    RETURN (SELECT standbys FROM pretended.server);
  END$$;
  CREATE FUNCTION pretended.pg_logical_emit_message(boolean, text, text) RETURNS void LANGUAGE sql AS
    'INSERT INTO pretended.commits VALUES (1)'`;

const LIMITS = {
  settings: { search_path: "pretended, pg_catalog" },
  size: 2,
  statementTimeoutMs: 5_000,
  lockTimeoutMs: 5_000,
};

let target: Target;
let pool: pg.Pool;
let standbys: SynchronousStandbys;

openForAllTests((untilTestsEnd) =>
  withDatabase("postgres", async (fresh) => {
    target = fresh;
    await execute(target, PRETENDED);
    pool = createPool({ ...LIMITS, connection: target.url });
    await untilTestsEnd();
    await pool.end();
  }),
);

beforeEach(async () => {
  await execute(target, "TRUNCATE pretended.commits; UPDATE pretended.server SET standbys = '', is_well = true");
  standbys = new SynchronousStandbys(pool);
});

afterEach(() => {
  vi.restoreAllMocks();
});

const change = (to: string) => execute(target, `UPDATE pretended.server SET ${to}`);
const commits = () => countOf(target, "pretended.commits");

describe("what was seen on a PostgreSQL", () => {
  it("a confirmation needs no further commit where the server has no synchronous standby", async () => {
    await standbys.confirm(within(5_000));
    expect(await commits()).toBe(0);
  });

  it("one commit confirms it for all that ask at the same time, and another one for a later request", async () => {
    await change("standbys = 'a'");
    await Promise.all(Array.from({ length: 9 }, () => standbys.confirm(within(5_000))));
    expect(await commits()).toBe(1);
    await standbys.confirm(within(5_000));
    expect(await commits()).toBe(2);
  });

  it("a standby that the server has had for a second confirms it", async () => {
    await standbys.confirm(within(5_000));
    await change("standbys = 'a'");
    const { now } = performance;
    vi.spyOn(performance, "now").mockImplementation(() => now.call(performance) + 1_001);
    await standbys.confirm(within(5_000));
    expect(await commits()).toBe(1);
  });

  it("a server that did not answer confirms it as soon as it answers", async () => {
    await change("standbys = 'a', is_well = false");
    await expect(standbys.confirm(within(5_000))).rejects.toThrow("division by zero");
    await change("is_well = true");
    await standbys.confirm(within(5_000));
    expect(await commits()).toBe(1);
  });

  it(
    "a confirmation without an answer is asked for again over another connection until the deadline",
    { tags: "full" },
    () =>
      withWire(target.url, async (wire) => {
        const through = createPool({ ...LIMITS, connection: wire.through(target.url), size: 1 });
        through.on("connect", (client) => setResponseTimeout(client, 300));
        const session = async () => {
          const read = (client: pg.ClientBase) => client.query("SELECT pg_backend_pid() AS pid");
          return (await withClient(through, within(5_000), read)).rows[0]?.pid;
        };
        const asked = new SynchronousStandbys(through);
        const confirm = (deadline: number) => retryUntil(deadline, () => asked.confirm(deadline), transientReason);
        await change("standbys = 'a'");
        await asked.confirm(within(5_000));
        const before = await session();
        wire.silence();
        await confirm(within(5_000));
        expect(await commits()).toBe(2);
        expect(await session()).not.toBe(before);
        wire.freeze();
        await expect(confirm(within(500))).rejects.toMatchObject({ reason: "unavailable" });
        wire.cutAll();
        await through.end();
      }),
  );

  it("the answer at the deadline is unknown, and an error that arrives later affects nothing else", async () => {
    await change("is_well = false");
    await expect(standbys.confirm(within(0))).rejects.toMatchObject({ name: "NoConnection" });
    await expect(standbys.confirm(within(5_000))).rejects.toThrow("division by zero");
  });
});
