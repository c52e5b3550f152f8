import pg from "pg";
import { beforeEach, describe, expect, inject, it } from "vitest";
import type { CopyPair, SourceRow } from "../../src/store/copy/copy.ts";
import { type CopyTarget, openCopyTarget } from "../../src/store/copy/copy-target.ts";
import { type Target, withMigrated } from "../support/databases.ts";
import { countOf, rowsOf } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { openForAllTests } from "../support/for-all-tests.ts";
import { withLock } from "../support/held-lock.ts";
import { openTarget } from "../support/open-target.ts";

const TABLES = `CREATE TABLE kinds (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, gone text, at timestamptz, raw bytea,
    ratio double precision, parent bigint REFERENCES kinds (id));
  ALTER TABLE kinds DROP COLUMN gone;
  CREATE TABLE days (day date) PARTITION BY RANGE (day);
  CREATE TABLE days_2026 PARTITION OF days FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');`;
/** What a database may have been set to, whose values still have to be read in one form. */
const UNUSUAL = {
  TimeZone: "'Asia/Tokyo'",
  DateStyle: "'German'",
  extra_float_digits: "-10",
  bytea_output: "'escape'",
};
const ROWS: SourceRow[] = [
  ["1", "2026-01-02T03:04:05.678Z", new Uint8Array([0, 255, 92]), 0.1 + 0.2, null],
  // Without a zone it is UTC.
  ["2", "2026-01-02 03:04:05", null, null, "1"],
].map((values, index) => ({ position: String(index + 1), values: values as SourceRow["values"] }));
const PROGRESS = { from: "a.db", positions: {} };

let database: Target;

openForAllTests((untilTestsEnd) =>
  withMigrated("postgres", async (fresh) => {
    database = fresh;
    await (await openTarget(fresh)).store.close();
    await execute(fresh, TABLES);
    const name = new URL(fresh.url).pathname.slice(1);
    for (const [setting, value] of Object.entries(UNUSUAL))
      await execute(fresh, `ALTER DATABASE ${name} SET ${setting} = ${value}`);
    await untilTestsEnd();
  }),
);

beforeEach(() =>
  execute(database, "TRUNCATE kinds RESTART IDENTITY; DELETE FROM oncehook_settings WHERE name LIKE 'u%'"),
);

async function withTarget(use: (target: CopyTarget) => Promise<void>): Promise<void> {
  const target = await openCopyTarget(database.url);
  try {
    await use(target);
  } finally {
    await target.close();
  }
}

function pairOf({ tables }: CopyTarget, rows = ROWS.length): CopyPair {
  const columns = tables.find(({ name }) => name === "kinds")?.columns ?? [];
  const names = columns.map(({ name }) => name);
  return {
    from: { name: "kinds", columns: names, rows },
    fromColumns: names,
    to: "kinds",
    toColumns: columns,
  };
}

/** Whether a table with one column and the one value is taken for a copy of the other. */
async function isSame(type: string, one: string | null, other: string | null): Promise<boolean> {
  await execute(database, `DROP TABLE IF EXISTS compared; CREATE TABLE compared (value ${type})`);
  try {
    let found: unknown;
    await withTarget(async (target) => {
      const toColumns = target.tables.find(({ name }) => name === "compared")?.columns ?? [];
      const from = { name: "compared", columns: ["value"], rows: 1 };
      const pair = { from, fromColumns: ["value"], to: "compared", toColumns };
      await target.write(pair, [{ position: "1", values: [one] }], PROGRESS);
      found = await target.completed([pair], () => [[{ position: "1", values: [other] }]]);
    });
    return found !== undefined;
  } finally {
    await execute(database, "DROP TABLE compared");
  }
}

const UUID = "0af00000-0000-4000-8000-00000000000a";

describe("the comparison at the end of a copy", () => {
  it.each([
    ["float8", "0.1", "1e-1"],
    ["float8", "1e300", "1.0e+300"],
    ["float4", "0.1", "0.10000000149011612"],
    ["numeric", "1.50", "1.5"],
    ["numeric(10,2)", "1.5", "1.5"],
    ["numeric", "1e3", "1000.00"],
    ["numeric", "-0", "0"],
    ["numeric", ".5", "0.5"],
    ["bool", "1", "t"],
    ["timestamptz", "2026-01-02T03:04:05.600Z", "2026-01-02 03:04:05.6+00"],
    ["timestamptz", "2026-01-02T05:04:05+02:00", "2026-01-02 03:04:05+00"],
    ["timestamptz", "2026-01-02T03:04:05", "2026-01-02 03:04:05+00"],
    ["timestamp", "2026-01-02", "2026-01-02 00:00:00"],
    ["json", '{"b": 1, "a": {"d": 2, "c": [1, 2]}}', '{"a":{"c":[1,2],"d":2},"b":1}'],
    ["jsonb", '{"b": 1, "a": [1]}', '{"a":[1],"b":1}'],
    ["uuid", UUID.toUpperCase(), UUID],
    ["char(3)", "x", "x  "],
    ["bit(3)", "101", "101"],
  ])("a copy's comparison takes two spellings of a %s for one value: %s and %s", async (type, one, other) => {
    expect(await isSame(type, one, other)).toBe(true);
  });

  it.each([
    ["numeric", "1.5", "15"],
    ["numeric", "9007199254740993", "9007199254740992"],
    ["bool", "1", "0"],
    ["timestamptz", "2026-01-02T03:04:05.678901Z", "2026-01-02T03:04:05.678902Z"],
    ["timestamptz", "2026-01-02T03:04:05+02:00", "2026-01-02T03:04:05Z"],
    ["jsonb", "[1,2]", "[2,1]"],
    ["json", "[1]", '{"0":1}'],
    ["text", "x", "X"],
    ["text", "1.0", "1"],
    ["text", "", null],
    ["float8", "0.1", "0.1000000000000001"],
  ])("a copy's comparison distinguishes two values of a %s: %s and %s", async (type, one, other) => {
    expect(await isSame(type, one, other)).toBe(false);
  });

  it.each([
    ["numeric(10,2)", "1.005"],
    ["varchar(3)", "abcd"],
    ["timestamptz(0)", "2026-01-02T03:04:05.6Z"],
  ])("a copy's comparison notices that a column of type %s has cut %s", async (type, value) => {
    expect(await isSame(type, value, value)).toBe(false);
  });
});

describe("the target of a copy", () => {
  it("the target compares values in one form, whatever its database's settings, and gives ids above the copied ones", () =>
    withTarget(async (target) => {
      const pair = pairOf(target);
      await target.begin(PROGRESS);
      await target.write(pair, ROWS, PROGRESS);
      const settings = new Map([
        ["environment", "another"],
        ["key_id", "another"],
        ["base_url", "https://a.example"],
        ["unfinished_copy", "of the source"],
      ]);
      expect(await target.finish([pair], settings, () => [ROWS])).toMatchObject([{ rows: 2 }]);
      const stored = await rowsOf(database, "SELECT name, value FROM oncehook_settings ORDER BY name");
      expect(stored).toMatchObject([
        { name: "base_url", value: "https://a.example" },
        { name: "environment", value: "test" },
        { name: "key_id", value: "key-1" },
      ]);
      expect(stored).toHaveLength(3);
      await execute(database, "INSERT INTO kinds DEFAULT VALUES");
      expect(await countOf(database, "kinds", "id = 3")).toBe(1);
    }));

  it("the target gives ids above the only copied row", () =>
    withTarget(async (target) => {
      const pair = pairOf(target, 1);
      await target.write(pair, ROWS.slice(0, 1), PROGRESS);
      await target.finish([pair], new Map(), () => [ROWS.slice(0, 1)]);
      await execute(database, "INSERT INTO kinds DEFAULT VALUES");
      expect(await countOf(database, "kinds", "id = 2")).toBe(1);
    }));

  it("the target lists each table once with its columns and its references to others", () =>
    withTarget(async ({ tables }) => {
      const own = tables.filter(({ name }) => !name.startsWith("oncehook_"));
      expect(own.map(({ name }) => name)).toEqual(["days", "kinds"]);
      expect(own[1]?.columns.map(({ name }) => name)).toEqual(["id", "at", "raw", "ratio", "parent"]);
      expect(own[1]?.pointsTo).toEqual([]);
    }));

  it("the comparison distinguishes a finished copy from one with a differing or missing row", () =>
    withTarget(async (target) => {
      const pair = pairOf(target);
      await target.write(pair, ROWS, PROGRESS);
      const [one] = ROWS as [SourceRow];
      expect(await target.completed([pair], () => [ROWS])).toMatchObject([{ rows: 2 }]);
      expect(await target.completed([pairOf(target, 3)], () => [ROWS])).toBeUndefined();
      expect(await target.completed([pair], () => [[one, { ...one, position: "2" }]])).toBeUndefined();
    }));

  it("the target compares a table of several batches in full", () =>
    withTarget(async (target) => {
      const rows = Array.from({ length: 120 }, (_, index) => ({
        position: String(index + 1),
        values: [String(index + 1), null, null, null, null],
      }));
      const pair = pairOf(target, rows.length);
      await target.write(pair, rows, PROGRESS);
      expect(await target.completed([pair], () => [rows.slice(0, 50), rows.slice(50)])).toMatchObject([{ rows: 120 }]);
    }));

  it("the comparison waits for another session's last write, and locks its table until the end", () =>
    withTarget(async (target) => {
      const pair = pairOf(target);
      await target.write(pair, ROWS, PROGRESS);
      const finished = await withLock(database, "UPDATE kinds SET ratio = 7 WHERE id = 1", async () => {
        const finishing = target.finish([pair], new Map(), () => [ROWS]).catch((error: unknown) => error);
        const early = await Promise.race([
          finishing.then(() => "finished"),
          new Promise((resolve) => setTimeout(resolve, 100, "waiting")),
        ]);
        return { early, finishing };
      });
      expect(finished.early).toBe("waiting");
      expect(await finished.finishing).toMatchObject([{ rows: 2 }]);
    }));

  it("the target receives one copy at a time", () =>
    withTarget(async () => {
      await expect(openCopyTarget(database.url)).rejects.toThrow("another copy into this database is running");
    }));

  it("the target waits for the receivers' sessions of its own database alone", async () => {
    const elsewhere = await receiverOn(inject("postgresUrl"));
    const here = await receiverOn(database.url);
    const opening = openCopyTarget(database.url);
    const early = await Promise.race([
      opening.then(() => "opened"),
      new Promise((resolve) => setTimeout(resolve, 250, "waiting")),
    ]);
    await here.end();
    await (await opening).close();
    await elsewhere.end();
    expect(early).toBe("waiting");
  });
});

/** A session as receivers have them. */
async function receiverOn(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString, application_name: "oncehook" });
  await client.connect();
  return client;
}
