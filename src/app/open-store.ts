import type { Config } from "../config/index.ts";
import type { Clock, Log } from "../domain/index.ts";
import { type Migration, MigrationRefused, type OpenedStore, type Store } from "../store/index.ts";
import { baseUrlChanged } from "./base-url-changed.ts";
import { keyStamp } from "./key-stamp.ts";
import { databaseReason } from "./reason.ts";
import { StartRefused } from "./start-refused.ts";

/** How long one wait for a lock may take before the whole transaction is looked at anew. */
const LOCK_TIMEOUT_MS = 5_000;

/**
 * Opens the configured store, migrated and held to its stamp.
 * @throws MigrationRefused or StartRefused; in production also when a commit would not be durable
 */
export async function openStore(
  config: Config,
  migrations: readonly Migration[],
  clock: Clock,
  log: Log,
): Promise<Store> {
  const opened = await connect(config, migrations, clock);
  const { store, report, createdFile, previousBaseUrl, durabilityWarnings, notes } = opened;
  if (createdFile !== undefined) {
    const words =
      "there was no database, so a new, empty one was made; if you expected your own, check DATABASE_URL";
    log.info({ file: createdFile }, words);
  }
  if (report.applied.length > 0) log.info({ applied: report.applied }, "migrations applied");
  if (baseUrlChanged(config, previousBaseUrl)) {
    const fields = { before: previousBaseUrl, now: config.baseUrl };
    log.warn(
      fields,
      "CALLBACK_BASE_URL is another than this database last had; the platform must have the new one",
    );
  }
  for (const note of notes) log.warn({}, note);
  for (const warning of networkWarnings(config.database)) log.warn({}, warning);
  if (durabilityWarnings.length > 0) {
    if (config.environment === "production") {
      await store.close();
      throw new StartRefused(durabilityWarnings.join("\n"));
    }
    for (const warning of durabilityWarnings) log.warn({}, warning);
  }
  return store;
}

/** What to say aloud of the way to the database; in production `DATABASE_TLS=off` has allowed it. */
export function networkWarnings(database: Config["database"]): string[] {
  if (database.kind === "sqlite" || database.unverifiedHost === null) return [];
  return [
    `DATABASE_URL leads over a network, to ${database.unverifiedHost}, without verified TLS: whoever is on the way can read the ` +
      "password and the events, or answer as the database; sslmode=verify-full prevents it",
  ];
}

export async function connect(
  config: Config,
  migrations: readonly Migration[],
  clock: Clock,
  acceptNewKey = false,
): Promise<OpenedStore> {
  const { database, environment, handlerTimeoutMs } = config;
  const keys = { ...keyStamp(config), acceptNew: acceptNewKey };
  const common = { clock, migrations, stamp: { environment, keys } };
  try {
    // One of the two: nobody waits at the start for the driver that he does not use.
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
    if (error instanceof MigrationRefused) throw error;
    throw new StartRefused(`DATABASE_URL: the database cannot be opened: ${databaseReason(error)}`, {
      cause: error,
    });
  }
}
