import type pg from "pg";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createPool } from "../../src/store/postgres/pool.ts";
import { SynchronousStandbys } from "../../src/store/postgres/synchronous-standbys.ts";
import { type Target, withDatabase } from "../support/databases.ts";
import { countOf, within } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { openForAllTests } from "../support/for-all-tests.ts";

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

let target: Target;
let pool: pg.Pool;
let standbys: SynchronousStandbys;

openForAllTests((untilTestsEnd) =>
  withDatabase("postgres", async (fresh) => {
    target = fresh;
    await execute(target, PRETENDED);
    const settings = { search_path: "pretended, pg_catalog" };
    pool = createPool({
      url: target.url,
      settings,
      size: 2,
      statementTimeoutMs: 5_000,
      lockTimeoutMs: 5_000,
    });
    await untilTestsEnd();
    await pool.end();
  }),
);

beforeEach(async () => {
  await execute(
    target,
    "TRUNCATE pretended.commits; UPDATE pretended.server SET standbys = '', is_well = true",
  );
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

  it("the answer at the deadline is unknown, and an error that arrives later affects nothing else", async () => {
    await change("is_well = false");
    await expect(standbys.confirm(within(0))).rejects.toMatchObject({ name: "NoConnection" });
    await expect(standbys.confirm(within(5_000))).rejects.toThrow("division by zero");
  });
});
