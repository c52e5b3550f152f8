import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type CopyReport, copyDatabase, migrate } from "../../src/app/index.ts";
import { defineHandler } from "../../src/index.ts";
import { NEWEST_SCHEMA } from "../../src/store/index.ts";
import { runChild, runOncehook } from "../support/child.ts";
import { databaseFile, type Target, withDatabase } from "../support/databases.ts";
import { countOf, EFFECTS, KINDS, rowsOf } from "../support/effects.ts";
import { execute } from "../support/execute.ts";
import { event, payment, startReceiver, testConfig } from "../support/receiver.ts";
import { CHILD_ENVIRONMENT } from "../support/secrets.ts";

const failing = defineHandler({
  type: "failing",
  data: z.object({}),
  handle() {
    throw new Error("the stock service is down");
  },
});

const NEVER_ASKED: Target = { dialect: "postgres", url: "postgres://127.0.0.1:1/never-asked" };
const OWN = [EFFECTS, KINDS];
const LOG_ROWS = 1_700;

/** Values that a CHECK of the schema asks for; all others are made from the column's name and type. */
const CHECKED: Readonly<Record<string, unknown>> = {
  "oncehook_sessions.role": "operator",
  "oncehook_audit.role": "viewer",
  "oncehook_audit.outcome": "done",
  "oncehook_attempts.triggered_by": "bulk",
  "oncehook_bulk_replays.state": "running",
  "oncehook_backfills.state": "running",
  "oncehook_unreplayed_events.kind": "failed",
  "oncehook_deliveries.state": "waiting",
};

let folder = "";
let source: Target;
const file = () => databaseFile(source);

/** A database that a receiver has used, with a row at least in each table. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "oncehook-copy-"));
  source = { dialect: "sqlite", url: `sqlite:${join(folder, "source.db")}` };
  const receiver = await startReceiver(source, { handlers: [failing], migrations: OWN });
  for (const id of ["evt-1", "evt-2", "évt-3"]) await receiver.send(payment({ event_id: id }));
  await receiver.send(event("failing", {}, { event_id: "evt-4" }));
  await receiver.stop();
  const database = new DatabaseSync(file());
  database.exec(`
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${LOG_ROWS})
    INSERT INTO oncehook_callbacks (request_id, received_at, method, url, remote_address, request_headers, request_body,
      outcome, response_status, response_body, processing_ms, with_record)
    SELECT 'r' || i, '2026-01-02T03:04:05.678Z', 'POST', '/x', '127.0.0.1', '{}', 'body 😀' || i, 'not_found', 404, '{}', i / 7.0, 0 FROM n;
    INSERT INTO oncehook_settings VALUES ('capture_deleted_to', '17');
    INSERT INTO kinds VALUES ('a', '2026-01-02T03:04:05.678Z', x'00ff10', 1, 12.5, 9007199254740993, 0.1, '{"b":1,"a":[2]}', NULL);
    INSERT INTO kinds VALUES ('b', '2026-01-02T03:04:05+02:00', x'', 0, 1e3, -1, 1e300, 'null', 'a');
    INSERT INTO kinds VALUES ('c', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    -- The log row that a record names is gone already.
    DELETE FROM oncehook_callbacks WHERE id > 1500;
    UPDATE oncehook_records SET callback_id = 4000 WHERE event_id = 'evt-2';
  `);
  for (const table of emptyTables(database)) fill(database, table);
  database.close();
}, 60_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

function emptyTables(database: DatabaseSync): string[] {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'oncehook_%'");
  return tables
    .all()
    .map(({ name }) => String(name))
    .filter((name) => database.prepare(`SELECT 1 FROM ${name} LIMIT 1`).get() === undefined);
}

function fill(database: DatabaseSync, table: string): void {
  const columns = database.prepare("SELECT name, lower(type) AS type FROM pragma_table_info(?)").all(table);
  const values = columns.map(({ name, type }) => {
    const checked = CHECKED[`${table}.${name}`];
    if (checked !== undefined) return checked;
    if (name === "notification_id") return 1;
    if (type === "blob") return new Uint8Array([1, 0, 255]);
    if (type !== "text") return 7;
    return /(^|_)(at|until|since|oldest|seen|time)$/.test(String(name)) ? "2026-05-06T07:08:09.010Z" : `a ${name}`;
  });
  const marks = values.map(() => "?").join(", ");
  database.prepare(`INSERT INTO ${table} VALUES (${marks})`).run(...(values as string[]));
}

const copyTo = (target: Target, over: Partial<Parameters<typeof copyDatabase>[0]> = {}): Promise<CopyReport> =>
  copyDatabase({
    from: file(),
    config: testConfig(target),
    handlers: [failing],
    migrations: OWN,
    skip: [],
    onProgress: () => {},
    ...over,
  });

const tablesOf = async (target: Target) =>
  (
    await rowsOf(
      target,
      target.dialect === "sqlite"
        ? "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        : "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
    )
  ).map(({ name }) => String(name));

describe("oncehook copy", () => {
  it(
    "a killed copy continues, the target then has each row once, and a further run reports it as complete",
    { tags: "full" },
    () =>
      withDatabase("postgres", async (target) => {
        const killed = await runChild("test/support/copy-child.ts", [file(), target.url, "3"]);
        expect([killed.signal, killed.stderr]).toEqual(["SIGKILL", ""]);
        await expect(startReceiver(target, { migrations: OWN })).rejects.toThrow(
          /a copy into this database has not finished.+Run the same `oncehook copy` again/,
        );
        expect(await countOf(target, "oncehook_failures")).toBe(0);
        const seen: string[] = [];
        const report = await copyTo(target, {
          onProgress(table, copied) {
            seen.push(`${table} ${copied}`);
            // Another process, a receiver that starts, finds the source locked.
            expect(() => new DatabaseSync(file()).prepare("SELECT 1 FROM oncehook_records").get()).toThrow("locked");
          },
        });
        expect(report.continued).toBe(true);
        expect(new Set(seen).size).toBe(seen.length);
        await expectSameRows(report, target);
        const again = await copyTo(target, {
          onProgress: (table) => expect.unreachable(`copied ${table} again`),
        });
        expect(again).toMatchObject({ wasComplete: true, continued: false, tables: report.tables });
        await expectReceiverContinues(target);
        await expect(copyTo(target)).rejects.toThrow(/has rows of its own.+a receiver has served there since/);
      }),
  );

  it.each(["without tables", "with empty, migrated tables"])(
    "a copy into DATABASE_SCHEMA fills the tables of that schema, beside a public one %s",
    (beside) =>
      withDatabase("postgres", async (target) => {
        if (beside !== "without tables")
          await migrate({ config: testConfig(target), handlers: [failing], migrations: OWN });
        const report = await copyTo(target, { config: testConfig(target, { DATABASE_SCHEMA: "pay" }) });
        expect(report.checked.contents?.records).toBe(3);
        expect(await countOf(target, "pay.oncehook_records")).toBe(3);
        expect(await countOf(target, "pay.kinds")).toBe(3);
        if (beside !== "without tables") expect(await countOf(target, "public.oncehook_records")).toBe(0);
      }),
  );

  it("a copy refuses a target with rows of its own, and one of another unfinished copy", () =>
    withDatabase("postgres", async (target) => {
      const receiver = await startReceiver(target, { migrations: OWN });
      await receiver.send(payment({ event_id: "evt-1" }));
      await receiver.stop();
      await expect(copyTo(target)).rejects.toThrow(/the target has rows of its own in .*"oncehook_records"/);
      expect(await countOf(target, "oncehook_records")).toBe(1);
      const unfinished = JSON.stringify({ from: "/elsewhere.db", positions: {} });
      await execute(target, `INSERT INTO oncehook_settings VALUES ('unfinished_copy', '${unfinished}')`);
      await expect(copyTo(target)).rejects.toThrow("the target holds an unfinished copy of /elsewhere.db");
    }));

  it("a copy refuses a source that a receiver uses", async () => {
    const receiver = await startReceiver(source, { handlers: [failing], migrations: OWN });
    try {
      await expect(copyTo(NEVER_ASKED)).rejects.toThrow(/source\.db is in use; stop the receiver first/);
    } finally {
      await receiver.stop();
    }
  });

  it("a copy refuses another environment's source, another key's, and one of another schema", async () => {
    const target = NEVER_ASKED;
    await expect(copyTo(target, { config: testConfig(target, { APP_ENV: "development" }) })).rejects.toThrow(
      /belongs to the environment "test", and this is APP_ENV=development/,
    );
    const other = { ENCRYPTION_KEY: Buffer.alloc(32, 9).toString("base64") };
    await expect(copyTo(target, { config: testConfig(target, other) })).rejects.toThrow(
      "ENCRYPTION_KEY: this database was last used with another key",
    );
    await inChanged(`UPDATE oncehook_schema SET number = 999 WHERE number = ${NEWEST_SCHEMA}`, (from) =>
      expect(copyTo(target, { from })).rejects.toThrow(
        `has schema 999, and this version of Oncehook copies schema ${NEWEST_SCHEMA}. Copy with the version that wrote it`,
      ),
    );
    await inChanged(`UPDATE oncehook_schema SET number = number - ${NEWEST_SCHEMA - 13}`, (from) =>
      expect(copyTo(target, { from })).rejects.toThrow(
        "the database has schema 13, of a development version before the first release",
      ),
    );
  });

  it("a copy that finds a differing row at the end releases the target to no receiver", () =>
    withDatabase("postgres", async (target) => {
      const interrupted = copyTo(target, {
        onProgress(table) {
          if (table === "oncehook_failures") throw new Error("interrupted");
        },
      });
      await expect(interrupted).rejects.toThrow("interrupted");
      await execute(target, "UPDATE oncehook_callbacks SET processing_ms = 3 WHERE id = 3");
      await expect(copyTo(target)).rejects.toThrow(
        /these tables do not hold what the source holds: "oncehook_callbacks" \((\d+) rows in the source, \1 in the target\)/,
      );
      await expect(startReceiver(target, { migrations: OWN })).rejects.toThrow("has not finished");
    }));

  it("a copy names tables whose rows would stay behind, skips those that --skip names, and reports what the target holds", () =>
    withDatabase("postgres", async (target) => {
      const change = "CREATE TABLE recipes (id integer PRIMARY KEY); INSERT INTO recipes VALUES (1)";
      await inChanged(change, async (from) => {
        await expect(copyTo(target, { from })).rejects.toThrow(/would stay behind: "recipes" \(1 rows\).+--skip/);
        await expect(copyTo(target, { from, skip: ["oncehook_records"] })).rejects.toThrow(
          '--skip: got "oncehook_records", expected a table of your own',
        );
        const env = { ...CHILD_ENVIRONMENT, NO_COLOR: "1" };
        const run = (...args: string[]) => runOncehook(["copy", ...args], env, folder);
        // The command finds no configuration file, and so no handlers of these tables.
        const skip = ["--skip", "recipes", "kinds", "effects", "parents", "children"];
        await execute(target, "DROP SCHEMA public CASCADE; CREATE SCHEMA public");
        const done = await run("--from", `sqlite:${from}`, "--to", target.url, ...skip);
        expect(done.stderr).toMatch(/^oncehook_records: 3 of 3$/m);
        expect(done.stdout).toMatch(/^oncehook_records +3$/m);
        expect(done.stdout).toContain("every row was read back and compared.\nNOT copied: ");
        expect(done.stdout).toContain('"recipes" (1 rows)');
        expect(done.stdout).toMatch(/environment test, 3 events, the newest of .+\n[\s\S]*Next: set DATABASE_URL/);
        // The rows that the fixture made up break some invariants, and are copied as they are.
        expect(done.stdout).toMatch(/^FAILURE /m);
        expect(done.code).toBe(1);
      });
    }));

  it.each([
    [["--from", "data/oncehook.db"], '--from: got "data/oncehook.db", expected an SQLite database'],
    [["--from", "sqlite:a.db", "--to", "sqlite:b.db"], '--to: got "sqlite:b.db", expected postgres://'],
    [["--from", "sqlite:a.db"], "--to: not given, and DATABASE_URL is no PostgreSQL database"],
  ])("oncehook copy exits 2 for %j", async (args, words) => {
    const { code, stderr } = await runOncehook(["copy", ...args], CHILD_ENVIRONMENT, folder);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`oncehook: ${words}`)]);
  });
});

async function expectSameRows(report: CopyReport, target: Target): Promise<void> {
  const own = new Set(["oncehook_schema", "oncehook_handler_migrations", "oncehook_settings"]);
  const expected = (await tablesOf(source)).filter((name) => !own.has(name)).sort();
  expect(report.tables.map(({ table }) => table).sort()).toEqual(expected);
  expect(report.notCopied).toEqual([]);
  const counts = await Promise.all(
    expected.map(async (table) => ({
      table,
      rows: await countOf(source, table),
      copied: await countOf(target, table),
    })),
  );
  expect(counts.filter(({ rows, copied }) => rows !== copied)).toEqual([]);
  // The fixture fills every table of the service; a new one must not be forgotten.
  expect(counts.filter(({ table, rows }) => table.startsWith("oncehook_") && rows === 0)).toEqual([]);
  expect(await rowsOf(target, "SELECT * FROM kinds ORDER BY name")).toEqual(KINDS_COPIED);
  const inOrder = "SELECT id, request_body, received_at, processing_ms FROM oncehook_callbacks ORDER BY id";
  const rows = (await rowsOf(target, inOrder)).map(({ id, received_at, ...row }) => ({
    id: Number(id),
    received_at: (received_at as Date).toISOString(),
    ...row,
  }));
  expect(rows).toEqual(await rowsOf(source, inOrder));
  const settings = "SELECT name, value FROM oncehook_settings ORDER BY name";
  expect(await rowsOf(target, settings)).toEqual(await rowsOf(source, settings));
}

const KINDS_COPIED = [
  {
    name: "a",
    at: new Date("2026-01-02T03:04:05.678Z"),
    raw: Buffer.from([0, 255, 16]),
    flag: true,
    price: "12.50",
    big: "9007199254740993",
    ratio: 0.1,
    doc: { b: 1, a: [2] },
    parent: null,
  },
  {
    name: "b",
    at: new Date("2026-01-02T01:04:05Z"),
    raw: Buffer.from([]),
    flag: false,
    price: "1000.00",
    big: "-1",
    ratio: 1e300,
    doc: null,
    parent: "a",
  },
  {
    name: "c",
    at: null,
    raw: null,
    flag: null,
    price: null,
    big: null,
    ratio: null,
    doc: null,
    parent: null,
  },
];

/** Duplicates are known, ids go on after the copied ones, failures are replayed with their encrypted bodies. */
async function expectReceiverContinues(target: Target): Promise<void> {
  const recovered = defineHandler({ type: "failing", data: z.object({}), handle: () => ({ done: true }) });
  const receiver = await startReceiver(target, { handlers: [recovered], migrations: OWN });
  try {
    expect((await receiver.send(payment({ event_id: "évt-3" }))).body).toEqual({
      status: "already_processed",
    });
    expect((await receiver.send(payment({ event_id: "evt-new" }))).body).toMatchObject({ status: "success" });
    const replayed = await receiver.admin("/api/v1/failures/platform/evt-4/replay", { method: "POST" });
    expect(replayed.body).toMatchObject({ outcome: "success" });
    const [fresh] = await rowsOf(target, "SELECT id, callback_id FROM oncehook_records WHERE event_id = 'evt-new'");
    expect(Number(fresh?.id)).toBeGreaterThan(3);
    // Beyond the highest id that a record names, though its log row is gone.
    expect(Number(fresh?.callback_id)).toBeGreaterThan(4_000);
  } finally {
    await receiver.stop();
  }
}

/** Lends a copy of the source that was changed. */
async function inChanged(statement: string, use: (from: string) => Promise<void>): Promise<void> {
  const from = join(folder, "changed.db");
  const database = new DatabaseSync(file());
  database.prepare("VACUUM INTO ?").run(from);
  database.close();
  const changed = new DatabaseSync(from);
  changed.exec(statement);
  changed.close();
  try {
    await use(from);
  } finally {
    await rm(from);
  }
}
