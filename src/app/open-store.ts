import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "../config/index.ts";
import {
  baseUrlChanged,
  configuredHandlers,
  configuredSources,
  databaseReason,
  keyStamp,
  migrationsOf,
  networkWarnings,
  type OpenForCommand,
  type OpenOptions,
  StartError,
  writableByOthersWarnings,
} from "../configured/index.ts";
import { type Clock, errorReason, type Log } from "../domain/index.ts";
import {
  type HandlerMigration,
  type Inspection,
  type InspectOptions,
  MigrationError,
  NEWEST_SCHEMA,
  type OpenedStore,
} from "../store/index.ts";
import { createEncryptor, systemClock } from "../system/index.ts";

/** A statement waits so long for a lock before the whole transaction is retried. */
const LOCK_TIMEOUT_MS = 5_000;

/**
 * Opens the configured store, migrated and held to its stamp.
 * @throws MigrationError or StartError; in production also when a commit would not be durable
 */
export async function openStore(config: Config, migrations: readonly HandlerMigration[], clock: Clock, log: Log) {
  // Before the file is opened: what it holds may be another user's.
  refuseInProduction(writableByOthersWarnings(config), config, log);
  const opened = await connectStore(config, migrations, clock);
  const { store, applied, createdFile: file, previousBaseUrl: before, durabilityWarnings, notes } = opened;
  if (file !== undefined)
    log.info({ file }, "created a new, empty database; if you expected an existing one, check DATABASE_URL");
  if (applied.length > 0) log.info({ applied }, "migrations applied");
  if (baseUrlChanged(config, before)) log.warn({ before, now: config.baseUrl }, BASE_URL_CHANGED);
  for (const warning of [...notes, ...networkWarnings(config.database)]) log.warn({}, warning);
  try {
    refuseInProduction(durabilityWarnings, config, log);
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

const BASE_URL_CHANGED =
  "CALLBACK_BASE_URL differs from the last start of this database; register the new one with your platforms";

function refuseInProduction(warnings: readonly string[], { environment }: Config, log: Log): void {
  if (environment === "production" && warnings.length > 0) throw new StartError(warnings.join("\n"));
  for (const warning of warnings) log.warn({}, warning);
}

export async function connectStore(
  config: Config,
  migrations: readonly HandlerMigration[],
  clock: Clock,
  { acceptNewKey = false, continuesCopy = false, changesNothing = false }: OpenOptions = {},
): Promise<OpenedStore> {
  const { database, environment, handlerTimeoutMs } = config;
  const keys = { ...keyStamp(config), acceptNew: acceptNewKey };
  const common = { clock, migrations, stamp: { environment, keys, continuesCopy, changesNothing } };
  try {
    if (changesNothing) await assertNewestSchema(database);
    // Only the configured driver is loaded, to keep the start fast.
    if (database.kind === "sqlite") {
      const { openSqliteStore } = await import("../store/sqlite/index.ts");
      return await openSqliteStore({ ...common, path: database.path });
    }
    const { openPostgresStore } = await import("../store/postgres/index.ts");
    return await openPostgresStore({
      ...common,
      connection: database.connection,
      schema: database.schema ?? undefined,
      poolSize: database.poolSize,
      statementTimeoutMs: handlerTimeoutMs,
      lockTimeoutMs: Math.min(LOCK_TIMEOUT_MS, Math.ceil(config.requestTimeoutMs / 2)),
    });
  } catch (error) {
    if (error instanceof MigrationError) throw error;
    throw new StartError(`DATABASE_URL: the database cannot be opened: ${databaseReason(error)}`, { cause: error });
  }
}

/** Before it is opened, which would make a missing one. */
async function assertNewestSchema(database: Config["database"]): Promise<void> {
  const found = await inspectDatabase(database, {});
  if (found.exists && found.schema >= NEWEST_SCHEMA) return;
  const state = found.exists ? `has schema ${found.schema}, of an earlier version` : "is not there yet";
  throw new MigrationError(
    `DATABASE_URL: the database ${state}, and a dry run changes nothing; run \`oncehook migrate\`, or start the receiver, first`,
  );
}

/** Only reads. @throws the driver's error */
export async function inspectDatabase(database: Config["database"], options: InspectOptions): Promise<Inspection> {
  if (database.kind === "sqlite") {
    const { inspectSqlite } = await import("../store/sqlite/index.ts");
    return inspectSqlite(database.path, options);
  }
  const { inspectPostgres } = await import("../store/postgres/index.ts");
  return inspectPostgres(database.connection, { ...options, schema: database.schema ?? undefined });
}

/** @throws MigrationError, or StartError for a database that cannot be opened */
export const openForCommand: OpenForCommand = async ({ config, handlers, migrations }, options, configured) => {
  const encryptor = createEncryptor(config.encryptionKey, config.previousEncryptionKeys);
  const exchange = () => Promise.reject(new Error("a command exchanges no code"));
  const sources = configured ?? (await configuredSources(config));
  const registry = configuredHandlers({ config, handlers }, sources, exchange, encryptor);
  const { store, applied } = await connectStore(config, migrationsOf(registry, migrations), systemClock, options);
  return { store, applied, registry, encryptor };
};

export type TemporaryDatabase = Awaited<ReturnType<typeof temporaryDatabase>>;

/**
 * A database for one test: a SQLite file in a new folder, or a new database on a given PostgreSQL. A given SQLite file
 * is used as it is, and stays.
 * @throws StartError when there can be none
 */
export async function temporaryDatabase(given?: string) {
  if (given === undefined) {
    const folder = await mkdtemp(join(tmpdir(), "oncehook-test-"));
    const remove = () => rm(folder, { recursive: true, force: true });
    return { url: `sqlite:${join(folder, "test.db")}`, remove };
  }
  // A file that is named stays; an address of another kind is the configuration's to refuse.
  if (!/^postgres(ql)?:\/\//.test(given)) return { url: given, remove: async () => {} };
  const { createScratchDatabase } = await import("../store/postgres/index.ts");
  try {
    const { url, drop } = await createScratchDatabase(given);
    return { url, remove: drop };
  } catch (cause) {
    throw new StartError(
      `databaseUrl: no database could be made on that PostgreSQL (${errorReason(cause)}); each test receiver has one of its own there, ` +
        "so the server must answer and its user must be allowed to create databases (CREATEDB)",
      { cause },
    );
  }
}
