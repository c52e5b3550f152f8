import type pg from "pg";
import { callOnce, keyText } from "../../domain/index.ts";
import { KeyedSemaphore } from "../../system/index.ts";
import { ADVISORY_LOCKS } from "../advisory-locks.ts";
import { createAreas } from "../areas/areas.ts";
import type { StoredRecord } from "../areas/records.ts";
import { Batches, type PendingLookup } from "../batches.ts";
import { bindQuery, postgresDialect } from "../bind-query.ts";
import type { Database } from "../database.ts";
import { applyMigrations } from "../migrations/apply-migrations.ts";
import type { DryRunOptions, PendingEvent } from "../once.ts";
import { qualifiedNames } from "../qualified-names.ts";
import { type Deadline, retryUntil } from "../retry-until.ts";
import type { OpenedStore, OpenOptions, Store } from "../store.ts";
import { StoreError } from "../store-errors.ts";
import { appendCallbacks } from "./append-callbacks.ts";
import { eventStatementsOf, toStoredRecords } from "./groups/event-statements.ts";
import { GroupScheduler } from "./groups/group-scheduler.ts";
import { inTransaction } from "./groups/in-transaction.ts";
import { handleSingle } from "./groups/single-event.ts";
import { SynchronousStandbys } from "./synchronous-standbys.ts";
import { isDataError, transientReason, transientReasonBeforeSending } from "./wire/database-errors.ts";
import { assertSearchPath, firstConnection } from "./wire/first-connection.ts";
import { qualifiedNamesOf } from "./wire/names-of-connection.ts";
import { createPool, type PoolOptions, withClient } from "./wire/pool.ts";
import { PreparedNames, prepared } from "./wire/prepared-names.ts";
import { executeOwn, queryOn, sendBatch } from "./wire/statement.ts";

export interface PostgresOptions
  extends OpenOptions,
    Pick<PoolOptions, "connection" | "statementTimeoutMs" | "lockTimeoutMs"> {
  /** Holds the tables; made where it is missing. Those of the server's own search_path when left out. */
  readonly schema?: string | undefined;
  readonly poolSize: number;
}

/** How long what no request waits for (retries, lists, the retention job) may wait for an absent database. */
const BACKGROUND_TIMEOUT_MS = 10_000;
const MIGRATION_TIMEOUT_MS = 60_000;
const MIGRATION_LIMIT_MS = 6 * 3_600_000;
/** The largest number of concurrent groups; all other work uses the other connections. */
const MAX_GROUP_CONNECTIONS = 4;
const MAX_CONCURRENT_LOOKUPS = 2;
/** A group waits for no lock and no long statement: an event that needs one runs in its own transaction. */
const GROUP_LIMITS = { statementTimeoutMs: 200, lockTimeoutMs: 50, isForGroups: true };
/** The server refuses it where it refuses a callback's record: as a standby, read-only, without the table or the right. */
const WRITES_NOTHING = "DELETE FROM oncehook_records WHERE false";

/** Brings the schema up to date. @throws MigrationError for a newer schema or another environment's database */
export async function openPostgresStore(options: PostgresOptions): Promise<OpenedStore> {
  const { durabilityWarnings, ...server } = await firstConnection(options.connection, options.schema);
  const session = { ...server, preparedNames: new PreparedNames(), qualified: qualifiedNames(options.schema) };
  const groupConnections = Math.min(MAX_GROUP_CONNECTIONS, Math.floor((options.poolSize - 1) / 2));
  const pool = createPool({ ...options, ...session, size: options.poolSize - groupConnections });
  const groups =
    groupConnections === 0
      ? undefined
      : createPool({ connection: options.connection, ...session, size: groupConnections, ...GROUP_LIMITS });
  const opening = performance.now() + BACKGROUND_TIMEOUT_MS;
  try {
    const look = () => withClient(pool, opening, (client) => assertSearchPath(client, options.schema));
    await retryUntil(opening, look, transientReason);
    const { applied, previousBaseUrl } = await migrate(options, session);
    const store = createStore(pool, groups, options);
    return { store, applied, createdFile: undefined, previousBaseUrl, durabilityWarnings, notes: [] };
  } catch (error) {
    await Promise.all([pool.end(), groups?.end()]);
    throw error;
  }
}

/** On a connection of its own: an index over a large table takes longer than any callback's statement may. */
async function migrate(
  options: PostgresOptions,
  session: Pick<PoolOptions, "settings" | "isPooled" | "preparedNames" | "qualified">,
) {
  const { connection, migrations, stamp, clock, lockTimeoutMs } = options;
  const pool = createPool({ connection, ...session, size: 1, lockTimeoutMs, statementTimeoutMs: MIGRATION_LIMIT_MS });
  const deadline = performance.now() + MIGRATION_TIMEOUT_MS;
  const migrating = inTransaction(
    pool,
    // The deadline is for the connection; what took long may have a long COMMIT.
    { deadline, commitDeadline: Number.POSITIVE_INFINITY, lockTimeoutMs },
    {
      async run({ tx, client }) {
        await client.query(`SET LOCAL lock_timeout = ${MIGRATION_LIMIT_MS}`);
        await client.query("SELECT pg_advisory_xact_lock($1)", [ADVISORY_LOCKS.migration]);
        return applyMigrations(tx, migrations, stamp, clock.now());
      },
      closing: () => [],
    },
  );
  return migrating.finally(() => pool.end());
}

function createStore(pool: pg.Pool, groups: pg.Pool | undefined, options: PostgresOptions): Store {
  const { clock, lockTimeoutMs } = options;
  const access = createDatabase(pool, lockTimeoutMs);
  const writesNothing = { text: qualifiedNamesOf(pool).text(WRITES_NOTHING) };
  const standbys = new SynchronousStandbys(pool);
  const lookups = new Batches<PendingLookup, StoredRecord | undefined>({
    run: (lookups, deadline) => findCompleted(pool, standbys, lookups, deadline),
    maxConcurrentBatches: MAX_CONCURRENT_LOOKUPS,
    transientReason,
  });
  const runInSlot = createTransactionSlots(pool);
  const runInOwnTransaction = async (event: PendingEvent, dryRun?: DryRunOptions) => {
    const { record, deadline } = event;
    const attempt = () => handleSingle({ pool, lockTimeoutMs, clock }, event, dryRun);
    const retried = () => retryUntil(deadline, attempt, transientReason);
    const result = await runInSlot(record.source, deadline, retried);
    // Another process committed it; its COMMIT may still wait for the standbys.
    if (result.kind === "duplicate") await retryUntil(deadline, () => standbys.confirm(deadline), transientReason);
    return result;
  };
  const scheduler = new GroupScheduler(groups, clock, (event) => runInOwnTransaction(event));
  const runAlone = (event: PendingEvent, dryRun?: DryRunOptions) => {
    runInOwnTransaction(event, dryRun)
      .then((result) => event.settle(result))
      .catch((error: unknown) => event.fail(error));
  };
  return {
    dialect: "postgres",
    database: access,
    find: (key, deadline) => lookups.ask({ key, deadline }),
    lookUp: (lookup) => lookups.add(lookup),
    submit: (event) => (event.replaces === undefined ? scheduler.submit(event) : runAlone(event)),
    dryRun: (event, observer) => runAlone(event, { observer }),
    ...createAreas(access),
    appendCallbacks: (rows) => appendCallbacks(access, rows),
    async ping() {
      const deadline = performance.now() + BACKGROUND_TIMEOUT_MS;
      await withClient(pool, deadline, (client) => sendBatch(client, [writesNothing]));
    },
    // The server handles a failed disk; it ends its own process then.
    broken: new Promise(() => {}),
    // Other receivers are usual there, and nothing says which of them have ended.
    endStaleLeases: async () => {},
    close: callOnce(async () => void (await Promise.all([pool.end(), groups?.end()]))),
  };
}

/**
 * Runs a transaction of one event once a connection is free for it. A handler may hold its connection for as long as its time
 * limit. So one connection stays for look-ups and leases. Another one stays for the events of other sources and tenants, which
 * alternate.
 */
function createTransactionSlots({ options: { max } }: pg.Pool) {
  const semaphore = new KeyedSemaphore();
  return async <T>(source: string, deadline: Deadline, run: () => Promise<T>): Promise<T> => {
    const releaseSource = await semaphore.acquire(source, Math.max(1, max - 2), deadline);
    const release = await semaphore.acquire(semaphore, Math.max(1, max - 1), deadline, source);
    try {
      if (releaseSource !== undefined && release !== undefined) return await run();
      throw new StoreError("unavailable", "handlers held the connections until the deadline", undefined);
    } finally {
      release?.();
      releaseSource?.();
    }
  };
}

/** The completed records of these events; those found are on every standby that a COMMIT waits for. */
async function findCompleted(
  pool: pg.Pool,
  standbys: SynchronousStandbys,
  lookups: readonly PendingLookup[],
  deadline: Deadline,
): Promise<(StoredRecord | undefined)[]> {
  // An event that comes many times at once is looked up once.
  const keys = new Map(lookups.map(({ key }) => [keyText(key), key]));
  const statement = eventStatementsOf(pool).selectRecords([...keys.values()]);
  const [answer] = await withClient(pool, deadline, (client) => sendBatch(client, [statement]));
  // One that is not completed was committed by a handler itself; its event is refused.
  const completed = toStoredRecords(answer).filter(({ status }) => status === "completed");
  if (completed.length > 0) await standbys.confirm(deadline);
  const byName = new Map(completed.map((record) => [keyText(record), record]));
  return lookups.map(({ key }) => byName.get(keyText(key)));
}

/** A plan is kept for the session, so that the first rows are always taken with this. A pooler keeps nothing of it. */
const WALK_INDEXES = prepared("SET LOCAL enable_bitmapscan = off");

function createDatabase(pool: pg.Pool, lockTimeoutMs: number): Database {
  const query = bindQuery(postgresDialect, (compiled) => {
    const deadline = performance.now() + BACKGROUND_TIMEOUT_MS;
    const run = () => withClient(pool, deadline, (client) => executeOwn(client, compiled));
    return retryUntil(deadline, run, transientReasonBeforeSending);
  });
  const transaction = <T>(work: (client: pg.ClientBase) => Promise<T>, takesFirst = false) => {
    const limits = { deadline: performance.now() + BACKGROUND_TIMEOUT_MS, lockTimeoutMs };
    const opening = takesFirst ? [WALK_INDEXES] : [];
    const run = () => inTransaction(pool, limits, { opening, run: ({ client }) => work(client), closing: () => [] });
    return retryUntil(limits.deadline, run, transientReason);
  };
  return {
    dialect: "postgres",
    read: query,
    readFirst: bindQuery(postgresDialect, (compiled) => transaction((client) => executeOwn(client, compiled), true)),
    write: query,
    transientReason,
    isDataError,
    transact: (work, options) => transaction((client) => work(queryOn(client)), options?.takesFirst),
  };
}
