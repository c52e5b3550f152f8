import type { Config } from "../config/index.ts";
import { type Clock, type Log, shellWord } from "../domain/index.ts";
import {
  type HandlerMigration,
  type Inspection,
  type InspectOptions,
  type KeyStamp,
  MigrationError,
  NEWEST_SCHEMA,
  type OpenedStore,
  type Store,
} from "../store/index.ts";
import { encryptionKeyId, realOf, writableByOthers } from "../system/index.ts";
import { databaseReason, StartError } from "./start-error.ts";

/** How long a statement waits for a lock before the whole transaction is retried. */
const LOCK_TIMEOUT_MS = 5_000;

/**
 * Opens the configured store, migrated and held to its stamp.
 * @throws MigrationError or StartError; in production also when a commit would not be durable
 */
export async function openStore(
  config: Config,
  migrations: readonly HandlerMigration[],
  clock: Clock,
  log: Log,
): Promise<Store> {
  // Before the file is opened: what it holds may be another user's.
  refuseInProduction(writableByOthersWarnings(config), config, log);
  const opened = await connectStore(config, migrations, clock);
  const { store, report, createdFile: file, previousBaseUrl: before, durabilityWarnings, notes } = opened;
  if (file !== undefined)
    log.info({ file }, "created a new, empty database; if you expected an existing one, check DATABASE_URL");
  if (report.applied.length > 0) log.info({ applied: report.applied }, "migrations applied");
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
  "CALLBACK_BASE_URL differs from the last start of this database; register the new one with the platform";

function refuseInProduction(warnings: readonly string[], { environment }: Config, log: Log): void {
  if (environment === "production" && warnings.length > 0) throw new StartError(warnings.join("\n"));
  for (const warning of warnings) log.warn({}, warning);
}

export function networkWarnings(database: Config["database"]): string[] {
  if (database.kind === "sqlite" || database.unverifiedHost === null) return [];
  return [
    `DATABASE_URL leads over a network, to ${database.unverifiedHost}, without verified TLS: an attacker on the network path can read the ` +
      "password and the events, or answer as the database; sslmode=verify-full prevents it",
  ];
}

export async function connectStore(
  config: Config,
  migrations: readonly HandlerMigration[],
  clock: Clock,
  { acceptNewKey = false, continuesCopy = false, changesNothing = false } = {},
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
      url: database.url,
      schema: database.schema ?? undefined,
      poolSize: database.poolSize,
      statementTimeoutMs: handlerTimeoutMs,
      lockTimeoutMs: Math.min(LOCK_TIMEOUT_MS, Math.ceil(config.requestTimeoutMs / 2)),
    });
  } catch (error) {
    if (error instanceof MigrationError) throw error;
    throw new StartError(`DATABASE_URL: the database cannot be opened: ${databaseReason(error)}`, {
      cause: error,
    });
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
export async function inspectDatabase(
  database: Config["database"],
  options: InspectOptions,
): Promise<Inspection> {
  if (database.kind === "sqlite") {
    const { inspectSqlite } = await import("../store/sqlite/index.ts");
    return inspectSqlite(database.path, options);
  }
  const { inspectPostgres } = await import("../store/postgres/index.ts");
  return inspectPostgres(database.url, { ...options, schema: database.schema ?? undefined });
}

/**
 * Whether to warn that a database was used with another address. In development the address is the
 * listener's own unless it is set, and follows the port: no platform has it registered.
 */
export function baseUrlChanged(config: Config, previous: string | undefined): previous is string {
  if (previous === undefined || previous === config.baseUrl) return false;
  return config.isBaseUrlGiven || config.environment !== "development";
}

export function keyStamp({ encryptionKey, previousEncryptionKeys }: Config): KeyStamp {
  return { current: encryptionKeyId(encryptionKey), previous: previousEncryptionKeys.map(encryptionKeyId) };
}

/** A warning where other users of this machine may change the embedded database, with the command that ends it. */
export function writableByOthersWarnings({ database }: Config): string[] {
  if (database.kind !== "sqlite") return [];
  // Of a link both ends count: its folder decides which database is opened, and the WAL is beside what it leads to.
  const found = [database.path, realOf(database.path)].flatMap((path) =>
    writableByOthers([path, `${path}-wal`, `${path}-shm`]),
  );
  const writable = [...new Set(found)];
  if (writable.length === 0) return [];
  return [
    `DATABASE_URL: every user of this machine can write ${writable.join(", ")}, and so change what was handled; ` +
      `expected this user alone. Run: chmod o-w ${writable.map(shellWord).join(" ")}`,
  ];
}
