import type pg from "pg";
import { ADVISORY_LOCKS } from "../advisory-locks.ts";
import { readSetting, UNFINISHED_COPY, writeSetting } from "../areas/settings.ts";
import type { Connection } from "../connection-settings.ts";
import { assertSearchPath, firstConnection } from "../postgres/wire/first-connection.ts";
import { qualifiedNamesOf } from "../postgres/wire/names-of-connection.ts";
import { createPool } from "../postgres/wire/pool.ts";
import { queryOn } from "../postgres/wire/statement.ts";
import { qualifiedNames } from "../qualified-names.ts";
import { MaintenanceError } from "../store-errors.ts";
import {
  type CopyPair,
  type CopyProgress,
  type Fingerprint,
  ID_REFERENCES,
  migrationIdentity,
  quoted,
  type SourceBatches,
  type SourceRow,
  type TargetColumn,
  type TargetTable,
} from "./copy.ts";
import { fingerprintOfSource, fingerprintOfTarget, tableOfTexts, textsOf } from "./copy-fingerprint.ts";

/** Of one statement: a table that is compared may be large. */
const STATEMENT_LIMIT_MS = 6 * 3_600_000;
const LOCK_LIMIT_MS = 10_000;
const POOLED =
  "a pooler is between, and a copy needs one session that stays: give the address of the PostgreSQL server itself";
/** The sessions of the migration before may need some time to end. */
const SESSIONS_END_MS = 3_000;
/** Values come back in one form, whatever the server's configuration says. */
const SESSION = `SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET extra_float_digits = 1; SET bytea_output = 'hex';
  SET IntervalStyle = 'postgres'`;

export type CopyTarget = Awaited<ReturnType<typeof openCopyTarget>>;

/** @param schema the server's own search_path when left out @throws MaintenanceError where another process uses it */
export async function openCopyTarget(connection: Connection, schema?: string) {
  const { settings, isPooled } = await firstConnection(connection, schema);
  if (isPooled) throw new MaintenanceError(POOLED);
  const limits = { statementTimeoutMs: STATEMENT_LIMIT_MS, lockTimeoutMs: LOCK_LIMIT_MS };
  const pool = createPool({ connection, settings, qualified: qualifiedNames(schema), size: 1, ...limits });
  try {
    const client = await pool.connect();
    try {
      await assertSearchPath(client, schema);
      return await targetOn(client, pool);
    } catch (error) {
      client.release(true);
      throw error;
    }
  } catch (error) {
    await pool.end();
    throw error;
  }
}

const ownText = (client: pg.ClientBase, sql: string) => qualifiedNamesOf(client).text(sql);

async function targetOn(client: pg.PoolClient, pool: pg.Pool) {
  await client.query(SESSION);
  const { rows: locks } = await client.query(`SELECT pg_try_advisory_lock(${ADVISORY_LOCKS.copy}) AS taken`);
  if (locks[0]?.taken !== true) throw new MaintenanceError("another copy into this database is running");
  await assertUnused(client);
  const { rows: applied } = await client.query(
    ownText(client, "SELECT handler, name FROM oncehook_handler_migrations"),
  );
  const stored = await readSetting(queryOn(client), UNFINISHED_COPY);
  return {
    migrations: applied.map(migrationIdentity),
    tables: await tablesOf(client),
    progress: stored === undefined ? undefined : (JSON.parse(stored) as CopyProgress),
    write: (pair: CopyPair, rows: readonly SourceRow[], progress: CopyProgress) => write(client, pair, rows, progress),
    /** Stores a progress without rows. From here on no receiver starts on the target. */
    begin: (progress: CopyProgress) => writeSetting(queryOn(client), UNFINISHED_COPY, JSON.stringify(progress)),
    completed: (pairs: readonly CopyPair[], source: SourceBatches) => completedCopy(client, pairs, source),
    finish: (pairs: readonly CopyPair[], settings: ReadonlyMap<string, string>, source: SourceBatches) =>
      finishCopy(client, pairs, settings, source),
    async close() {
      client.release(true);
      await pool.end();
    },
  };
}

/** Sessions of a receiver, which would handle events while their records are still on their way. */
async function assertUnused(client: pg.ClientBase): Promise<void> {
  const others = `SELECT count(*) AS sessions FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'oncehook' AND pid <> pg_backend_pid()`;
  const until = performance.now() + SESSIONS_END_MS;
  for (;;) {
    const { rows } = await client.query(others);
    if (rows[0]?.sessions === "0") return;
    if (performance.now() > until) break;
    await client.query("SELECT pg_sleep(0.1), pg_stat_clear_snapshot()");
  }
  throw new MaintenanceError(
    "a receiver is connected to the target. Stop every Oncehook process that uses this PostgreSQL database, then copy",
  );
}

async function tablesOf(client: pg.ClientBase): Promise<TargetTable[]> {
  const { rows } = await client.query<{ table: string } & TargetColumn>(
    `SELECT c.relname AS table, a.attname AS name, t.typname AS kind, format_type(a.atttypid, a.atttypmod) AS type,
        format_type(a.atttypid, -1) AS unlimited, a.attgenerated <> '' AS "isGenerated"
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_type t ON t.oid = a.atttypid
      WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND a.attnum > 0 AND NOT a.attisdropped ORDER BY c.relname, a.attnum`,
  );
  const { rows: keys } = await client.query<{ table: string; points_to: string }>(
    `SELECT c.relname AS table, f.relname AS points_to FROM pg_constraint k
      JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class f ON f.oid = k.confrelid
      WHERE k.contype = 'f' AND c.relnamespace = quote_ident(current_schema())::regnamespace AND c.oid <> f.oid`,
  );
  const tables: TargetTable[] = [];
  for (const [name, columns] of Map.groupBy(rows, ({ table }) => table)) {
    const found = await client.query(`SELECT 1 FROM ${quoted(name)} LIMIT 1`);
    tables.push({
      name,
      columns: columns.map(({ table: _, ...column }) => column),
      isEmpty: found.rowCount === 0,
      pointsTo: keys.filter(({ table }) => table === name).map(({ points_to }) => points_to),
    });
  }
  return tables;
}

/** Stores rows and the progress that includes them in one transaction. */
async function write(
  client: pg.ClientBase,
  { to, toColumns }: CopyPair,
  rows: readonly SourceRow[],
  progress: CopyProgress,
): Promise<void> {
  const names = toColumns.map(({ name }) => quoted(name)).join(", ");
  const casts = toColumns.map(({ type }, index) => `c${index}::${type}`).join(", ");
  const text = `INSERT INTO ${quoted(to)} (${names}) OVERRIDING SYSTEM VALUE SELECT ${casts} FROM ${tableOfTexts(toColumns)}`;
  try {
    const values = textsOf(rows, toColumns);
    await inPlainTransaction(client, async () => {
      await client.query(text, values);
      await writeSetting(queryOn(client), UNFINISHED_COPY, JSON.stringify(progress));
    });
  } catch (cause) {
    const [first, last] = [rows[0]?.position, rows.at(-1)?.position];
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new MaintenanceError(
      `table "${to}": the rows ${first} to ${last} cannot be stored: ${why}. The rows before them are kept, and the same ` +
        "command continues there",
      { cause },
    );
  }
}

async function inPlainTransaction<T>(client: pg.ClientBase, work: () => Promise<T>, begin = "BEGIN"): Promise<T> {
  await client.query(begin);
  try {
    const value = await work();
    await client.query("COMMIT");
    return value;
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  }
}

/** Settings that each database has for itself. */
const OWN_SETTINGS: ReadonlySet<string> = new Set(["environment", "key_id", UNFINISHED_COPY]);
const DIFFERENT = "these tables do not hold what the source holds";
const START_AGAIN =
  "Either the source was used between two runs of this command, or something else wrote to the target. No receiver " +
  "starts on the target as it is: drop that database, create it again, and copy again with every receiver stopped";

/** Compares the tables, and lets receivers in. @throws MaintenanceError that names those that differ */
async function finishCopy(
  client: pg.ClientBase,
  pairs: readonly CopyPair[],
  settings: ReadonlyMap<string, string>,
  source: SourceBatches,
) {
  const compareAndRelease = async () => {
    const names = pairs.map(({ to }) => quoted(to)).join(", ");
    await client.query(`LOCK TABLE ${names} IN SHARE ROW EXCLUSIVE MODE`);
    const { found, different } = await compareTables(client, pairs, source);
    if (different.length > 0) throw new MaintenanceError(`${DIFFERENT}: ${different.join(", ")}. ${START_AGAIN}`);
    await setIds(client, pairs);
    for (const [name, value] of settings) if (!OWN_SETTINGS.has(name)) await writeSetting(queryOn(client), name, value);
    await client.query(ownText(client, "DELETE FROM oncehook_settings WHERE name = $1"), [UNFINISHED_COPY]);
    return found;
  };
  // Without the locks first, the snapshot could be older than another session's last write.
  const found = await inPlainTransaction(client, compareAndRelease, "BEGIN ISOLATION LEVEL REPEATABLE READ");
  // Without statistics the first queries would read whole tables.
  await client.query("ANALYZE");
  return found;
}

/** Undefined where they differ. Counts come first: they tell nearly every other database apart without reading it. */
async function completedCopy(client: pg.ClientBase, pairs: readonly CopyPair[], source: SourceBatches) {
  for (const { from, to } of pairs) {
    const { rows } = await client.query(`SELECT count(*)::text AS rows FROM ${quoted(to)}`);
    if (rows[0]?.rows !== String(from.rows)) return undefined;
  }
  const { found, different } = await inPlainTransaction(client, () => compareTables(client, pairs, source));
  return different.length === 0 ? found : undefined;
}

async function compareTables(client: pg.ClientBase, pairs: readonly CopyPair[], source: SourceBatches) {
  const found: Fingerprint[] = [];
  const different: string[] = [];
  for (const pair of pairs) {
    const expected = await fingerprintOfSource(client, pair, source(pair));
    const target = await fingerprintOfTarget(client, pair);
    found.push(target);
    // biome-ignore lint/plugin: the digests of two copies of a table are no secrets.
    if (expected.digest !== target.digest || expected.rows !== target.rows)
      different.push(`"${pair.to}" (${expected.rows} rows in the source, ${target.rows} in the target)`);
  }
  return { found, different };
}

/** The ids that the database gives from now on begin after all that were copied, or that a row names. */
async function setIds(client: pg.ClientBase, pairs: readonly CopyPair[]): Promise<void> {
  const { rows } = await client.query<{ table: string; name: string; sequence: string }>(
    `SELECT * FROM (SELECT c.relname AS table, a.attname AS name, pg_get_serial_sequence(quote_ident(c.relname), a.attname) AS sequence
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND c.relname = ANY ($1) AND a.attnum > 0 AND NOT a.attisdropped
      ) AS columns WHERE sequence IS NOT NULL`,
    [pairs.map(({ to }) => to)],
  );
  for (const { table, name, sequence } of rows) {
    const highest = [[table, name] as const, ...(ID_REFERENCES[table] ?? [])]
      .map(([from, column]) => `(SELECT max(${quoted(column)}) FROM ${quoted(from)})`)
      .join(", ");
    // Null, which tables without rows give, leaves the sequence as it is.
    const ids = `SELECT greatest(${highest}) AS highest`;
    await client.query(`SELECT setval($1::regclass, highest) FROM (${ids}) AS ids WHERE highest > 0`, [sequence]);
  }
}
