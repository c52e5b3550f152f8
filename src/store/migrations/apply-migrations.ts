import { sql } from "kysely";
import { errorReason } from "../../domain/index.ts";
import { readSettings, UNFINISHED_COPY, writeSetting } from "../areas/settings.ts";
import { insert, type Query, run } from "../database.ts";
import { causesOf, MigrationError } from "../store-errors.ts";
import type { Transaction } from "../transaction.ts";
import { ownQueryOf } from "../transaction-handle.ts";
import { BOOKKEEPING, initialSchema, runStatements } from "./schema.ts";
import { STEPS } from "./steps.ts";

/**
 * One step of a handler's own tables. It runs once, before the service listens, inside a transaction that holds the migration
 * lock. A throw leaves the database as it was. The handler's type and the name are its identity: never rename one.
 */
export interface Migration {
  readonly name: string;
  up(tx: Transaction): Promise<void>;
}

/** The owner of what the configuration file lists itself; no event type is written like this. */
export const CONFIGURATION = "*";

/** A migration of statements for both databases, as those of the service's own schema. */
export function sqlMigration(name: string, text: string): Migration {
  return { name, up: (tx) => runStatements(tx, text) };
}

/** A migration with the types of the handlers that list it. */
export interface HandlerMigration extends Migration {
  /** Only `CONFIGURATION` when left out. */
  readonly handlers?: readonly string[];
}

/** A database belongs to one environment (SPEC 1.6), and to the key that encrypts its values. */
export interface Stamp {
  readonly environment: string;
  readonly keys: KeyStamp;
  /** Only `oncehook copy` may open a database whose copy has not finished. */
  readonly continuesCopy?: boolean;
  /** A dry run: handlers' migrations are only listed, and nothing is written. The schema must be the newest one. */
  readonly changesNothing?: boolean;
}

/** The ids of the configured encryption keys; they reveal no key. */
export interface KeyStamp {
  readonly current: string;
  readonly previous: readonly string[];
  /** The operator confirms that the key before is lost, and the values that it encrypted. */
  readonly acceptNew?: boolean;
}

export const NEWEST_SCHEMA = Math.max(...STEPS.map((step) => step.number));
/** How many steps a database of this schema lacks. */
export const pendingSteps = (schema: number) => STEPS.filter(({ number }) => number > schema).length;

/** Why this version cannot use a database of this newest schema number, and what to do; undefined where it can. */
export function outdatedSchema(schema: number): string | undefined {
  if (schema >= initialSchema.number) return undefined;
  return (
    `the database has schema ${schema}, of a development version before the first release, which this version cannot ` +
    "upgrade. Use a new database: another file, or another DATABASE_SCHEMA."
  );
}

/**
 * Brings the schema up to date inside the caller's transaction, which must already hold the migration lock.
 * @throws MigrationError when the database is of another version, environment or key, or one fails; nothing is changed
 */
export async function applyMigrations(tx: Transaction, own: readonly HandlerMigration[], stamp: Stamp, now: Date) {
  const done = await appliedSteps(tx);
  const previousBaseUrl = await checkStamp(ownQueryOf(tx), stamp);
  const steps = await applySteps(tx, done, now);
  const applied = [...steps, ...(await applyHandlerMigrations(tx, own, stamp.changesNothing ? null : now))];
  return { applied, previousBaseUrl };
}

const runOwn = (tx: Transaction, text: string) => runStatements({ query: ownQueryOf(tx), dialect: tx.dialect }, text);

async function appliedSteps(tx: Transaction): Promise<Set<number>> {
  for (const [table, text] of Object.entries(BOOKKEEPING))
    if (!(await hasTable(tx, table))) await changeSchema(() => runOwn(tx, text), "has no tables of Oncehook yet");
  const { rows } = await sql<{ number: number }>`SELECT number FROM oncehook_schema`.execute(ownQueryOf(tx));
  const done = new Set(rows.map(({ number }) => number));
  const newest = Math.max(...done);
  if (newest > NEWEST_SCHEMA)
    throw new MigrationError(
      `DATABASE_URL: the database has schema ${newest}, this version of Oncehook knows ${NEWEST_SCHEMA}. ` +
        "Start the newer version again; going back would lose what it wrote.",
    );
  const outdated = done.size === 0 ? undefined : outdatedSchema(newest);
  if (outdated !== undefined) throw new MigrationError(`DATABASE_URL: ${outdated}`);
  return done;
}

/** PostgreSQL refuses CREATE TABLE IF NOT EXISTS to a role without CREATE, even where the table exists. */
async function hasTable(tx: Transaction, table: string): Promise<boolean> {
  if (tx.dialect === "sqlite") return false;
  // CREATE looks into this schema only, and not further along the search path.
  const first = sql`(SELECT oid FROM pg_namespace WHERE nspname = current_schema())`;
  const existing = sql`SELECT 1 FROM pg_class WHERE oid = to_regclass(${sql.lit(table)}) AND relnamespace = ${first}`;
  return (await run(ownQueryOf(tx), existing)).rows.length > 0;
}

const INSUFFICIENT_PRIVILEGE = "42501";

/** Whether the role lacks a right, by PostgreSQL's SQLSTATE. */
function lacksRight(error: unknown): boolean {
  return causesOf(error).some((one) => one instanceof Error && "code" in one && one.code === INSUFFICIENT_PRIVILEGE);
}

const AS_OWNER =
  "Run `oncehook migrate` with a DATABASE_URL of the role that owns the tables, then start again; this role needs USAGE " +
  "on the schema and its sequences, and SELECT, INSERT, UPDATE and DELETE on its tables";

/** @param state of the database, for the error @throws MigrationError where the role may not change the schema */
async function changeSchema(change: () => Promise<void>, state: string): Promise<void> {
  try {
    await change();
  } catch (cause) {
    if (!lacksRight(cause)) throw cause;
    const why = `the database ${state}, and this role may not change that (${errorReason(cause)})`;
    throw new MigrationError(`DATABASE_URL: ${why}. ${AS_OWNER}`, { cause });
  }
}

async function applySteps(tx: Transaction, done: ReadonlySet<number>, now: Date): Promise<string[]> {
  const applied: string[] = [];
  for (const { number, name, text } of STEPS.filter((step) => !done.has(step.number))) {
    const newest =
      done.size === 0 ? "no schema yet" : `schema ${Math.max(...done)}, this version needs ${NEWEST_SCHEMA}`;
    await changeSchema(() => runOwn(tx, text), `has ${newest}`);
    await run(ownQueryOf(tx), insert("oncehook_schema", { number, name, appliedAt: now }));
    applied.push(`${String(number).padStart(4, "0")}-${name}`);
  }
  return applied;
}

/** Two handlers may give their migrations the same name. @param now null in a dry run @returns the applied ones */
async function applyHandlerMigrations(
  tx: Transaction,
  own: readonly HandlerMigration[],
  now: Date | null,
): Promise<string[]> {
  // A handler's name holds no space.
  const keyOf = (handler: string, name: string) => `${handler} ${name}`;
  const select = sql`SELECT handler, name FROM oncehook_handler_migrations`;
  const { rows } = await run<{ handler: string; name: string }>(ownQueryOf(tx), select);
  const done = new Set(rows.map(({ handler, name }) => keyOf(handler, name)));
  const applied: string[] = [];
  for (const migration of own) {
    const { name, handlers = [CONFIGURATION] } = migration;
    const missing = handlers.filter((handler) => !done.has(keyOf(handler, name)));
    if (missing.length === 0) continue;
    if (missing.length === handlers.length) {
      applied.push(name);
      try {
        if (now !== null) await migration.up(tx);
      } catch (cause) {
        const remedy = lacksRight(cause) ? `. ${AS_OWNER}` : "";
        throw new MigrationError(`migration "${name}" failed, nothing was changed: ${String(cause)}${remedy}`, {
          cause,
        });
      }
    }
    for (const handler of now === null ? [] : missing)
      await run(ownQueryOf(tx), insert("oncehook_handler_migrations", { handler, name, appliedAt: now }));
  }
  return applied;
}

/**
 * Checks the stamp of the database and writes it, inside the transaction that migrates it. Of two processes that start at once,
 * the second sees the stamp of the first.
 * @returns the base address that the database had before, so that the caller can warn about a change
 */
async function checkStamp(query: Query, stamp: Stamp): Promise<string | undefined> {
  const stored = await readSettings(query);
  const environment = stored.get("environment");
  if (environment !== undefined && environment !== stamp.environment) {
    throw new MigrationError(
      `DATABASE_URL: this database belongs to the environment "${environment}", this process runs with ` +
        `APP_ENV=${stamp.environment}. Environments do not share a database: use another one, or set APP_ENV.`,
    );
  }
  if (stored.has(UNFINISHED_COPY) && stamp.continuesCopy !== true) throw new MigrationError(UNFINISHED);
  const { keys } = stamp;
  if (keys.acceptNew !== true && isWrongKey(stored.get("key_id"), keys)) {
    throw new MigrationError(`ENCRYPTION_KEY: ${WRONG_KEY}`);
  }
  if (stamp.changesNothing !== true) {
    await writeSetting(query, "environment", stamp.environment);
    await writeSetting(query, "key_id", keys.current);
  }
  return stored.get("base_url");
}

export function isWrongKey(keyId: string | undefined, { current, previous }: KeyStamp): boolean {
  return keyId !== undefined && ![current, ...previous].includes(keyId);
}

const UNFINISHED =
  "DATABASE_URL: a copy into this database has not finished, so events of the source would be handled a second time. " +
  "Run the same `oncehook copy` again: it continues, and compares both databases at the end";

export const WRONG_KEY =
  "this database was last used with another key, which is not in ENCRYPTION_KEY_PREVIOUS either, so what is encrypted " +
  "in it could not be read. Set ENCRYPTION_KEY to that key; to change to a new one, set ENCRYPTION_KEY_PREVIOUS to that " +
  "key as well. Where it is lost, `oncehook migrate --accept-new-key` goes on without what it encrypted: users' tokens, " +
  "and events that wait for a retry";
