import type pg from "pg";
import { bindQuery, type Execute } from "../bound-query.ts";
import { applyMigrations } from "../migrations/apply-migrations.ts";
import type { OpenedStore, OpenOptions } from "../opened-store.ts";
import { withPatience } from "../patience.ts";
import type { Access } from "../queries/access.ts";
import { commonOperations } from "../queries/common-operations.ts";
import type { Store } from "../store.ts";
import type { Tables } from "../tables.ts";
import { appendCallbacks } from "./append-callbacks.ts";
import type { SessionSettings } from "./connection-to.ts";
import { Finds } from "./finds.ts";
import { firstConnection } from "./first-connection.ts";
import { passing, passingBeforeItBegan } from "./hindrance.ts";
import { inTransaction } from "./in-transaction.ts";
import { Lanes } from "./lanes.ts";
import { once } from "./once.ts";
import { createPool, withClient } from "./pool.ts";
import { HOT_STATEMENTS } from "./records.ts";
import { postgresSpelling } from "./spelling.ts";
import { Standbys } from "./standbys.ts";
import { executeOn } from "./statement.ts";

export interface PostgresOptions extends OpenOptions {
  readonly url: string;
  /** Holds the tables; made where it is missing. Those of the server's own search_path when left out. */
  readonly schema?: string | undefined;
  readonly poolSize: number;
  readonly statementTimeoutMs: number;
  /** How long one wait for another delivery, or for a free connection, may take before it is looked at anew. */
  readonly lockTimeoutMs: number;
}

/** How long what no request waits for (retries, lists, the retention job) may wait for an absent database. */
const PATIENCE_MS = 10_000;
const MIGRATION_PATIENCE_MS = 60_000;
const MIGRATION_LIMIT_MS = 6 * 3_600_000;
/** How many groups may be at work at the same time; the other connections serve who is alone, and everything else. */
const MOST_LANES = 4;
/** In company nobody waits for a lock or a long statement: who needs it leaves, and has the usual limits. */
const GROUP_LIMITS = { statementTimeoutMs: 200, lockTimeoutMs: 50 };
/** The server refuses it where it refuses a callback's record: as a standby, read-only, without the table or the right. */
const WRITES_NOTHING = "DELETE FROM oncehook_records WHERE false";
/** Any fixed number: all processes of this service on one database take the same advisory lock. */
const MIGRATION_LOCK = 7_140_231_901;

/**
 * Connects to PostgreSQL, brings the schema up to date and returns the store.
 * @throws MigrationRefused for a newer schema or another environment's database
 */
export async function openPostgresStore(options: PostgresOptions): Promise<OpenedStore> {
  const { durabilityWarnings, settings } = await firstConnection(options.url, options.schema);
  const lanes = Math.min(MOST_LANES, Math.floor((options.poolSize - 1) / 2));
  const pool = createPool({ ...options, settings, size: options.poolSize - lanes });
  const groups =
    lanes === 0 ? undefined : createPool({ url: options.url, settings, size: lanes, ...GROUP_LIMITS });
  const opening = performance.now() + PATIENCE_MS;
  try {
    await withPatience(
      opening,
      () => withClient(pool, opening, (client) => assertPath(client, options.schema)),
      passing,
    );
    const { applied, previousBaseUrl } = await migrate(options, settings);
    const store = assemble(pool, groups, options);
    for (const statement of HOT_STATEMENTS) options.onStatement?.(statement);
    return {
      store,
      report: { applied },
      createdFile: undefined,
      previousBaseUrl,
      durabilityWarnings,
      notes: [],
    };
  } catch (error) {
    await Promise.all([pool.end(), groups?.end()]);
    throw error;
  }
}

/** A pooler may drop what a session begins with: then the tables would be made, and looked for, elsewhere. */
async function assertPath(client: pg.ClientBase, schema: string | undefined): Promise<void> {
  if (schema === undefined) return;
  const { rows } = await client.query("SELECT current_schema() AS first");
  if (rows[0]?.first === schema) return;
  throw new Error(
    `DATABASE_SCHEMA: the sessions do not begin in the schema "${schema}": a pooler between has dropped the startup ` +
      "option search_path. Connect to the server itself, or have the pooler pass `options` on",
  );
}

/** On a connection of its own: an index over a large table takes longer than any callback's statement may. */
async function migrate(options: PostgresOptions, settings: SessionSettings) {
  const { url, migrations, stamp, clock, lockTimeoutMs } = options;
  const pool = createPool({ url, settings, size: 1, statementTimeoutMs: MIGRATION_LIMIT_MS, lockTimeoutMs });
  const deadline = performance.now() + MIGRATION_PATIENCE_MS;
  const migrating = inTransaction(
    pool,
    { deadline, lockTimeoutMs },
    {
      async run({ tx, client }) {
        await client.query(`SET LOCAL lock_timeout = ${MIGRATION_LIMIT_MS}`);
        await client.query("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
        return applyMigrations(tx, migrations, stamp, clock.now());
      },
      closing: () => [],
    },
  );
  return migrating.finally(() => pool.end());
}

function assemble(pool: pg.Pool, groups: pg.Pool | undefined, options: PostgresOptions): Store {
  const { clock, lockTimeoutMs, onStatement } = options;
  const access = accessOf(pool, lockTimeoutMs, onStatement);
  const finds = new Finds(pool);
  const standbys = new Standbys(pool);
  const lanes = new Lanes(groups, clock);
  let closed: Promise<void> | undefined;
  return {
    dialect: "postgres",
    async find(key, deadline) {
      const record = await withPatience(deadline, () => finds.find(key, deadline), passing);
      // One that is not completed was committed by a handler itself; `once` refuses its event.
      if (record?.status !== "completed") return undefined;
      await withPatience(deadline, () => standbys.confirm(deadline), passing);
      return record;
    },
    async once(record, run, options) {
      const { deadline, mode } = options;
      const attempt = () => once(pool, lockTimeoutMs, clock, record, run, options);
      const alone = () => withPatience(deadline, attempt, passing);
      const ending = await (mode === "commit" ? lanes.serve(record, run, deadline, alone) : alone());
      // Somebody else's commit, of which nobody has told us how it ended.
      if (ending.ending === "already")
        await withPatience(deadline, () => standbys.confirm(deadline), passing);
      return ending;
    },
    ...commonOperations(access),
    appendCallbacks: (rows) => appendCallbacks(access, rows),
    async ping() {
      await withClient(pool, performance.now() + PATIENCE_MS, (client) => client.query(WRITES_NOTHING));
    },
    // What becomes of a disk is the server's business; it ends its own process then.
    broken: new Promise(() => {}),
    close() {
      closed ??= Promise.all([pool.end(), groups?.end()]).then(() => {});
      return closed;
    },
  };
}

function accessOf(pool: pg.Pool, lockTimeoutMs: number, onStatement: PostgresOptions["onStatement"]): Access {
  const bind = (execute: Execute) =>
    bindQuery<Tables>(postgresSpelling, (compiled) => {
      onStatement?.(compiled.sql);
      return execute(compiled);
    });
  const query = bind((compiled) => {
    const deadline = performance.now() + PATIENCE_MS;
    const run = () => withClient(pool, deadline, (client) => executeOn(client, compiled));
    return withPatience(deadline, run, passingBeforeItBegan);
  });
  const inside = (client: pg.ClientBase) => bind((compiled) => executeOn(client, compiled));
  return {
    dialect: "postgres",
    read: query,
    write: query,
    hindrance: passing,
    transact(work) {
      const limits = { deadline: performance.now() + PATIENCE_MS, lockTimeoutMs };
      const run = () =>
        inTransaction(pool, limits, { run: ({ client }) => work(inside(client)), closing: () => [] });
      return withPatience(limits.deadline, run, passing);
    },
  };
}
