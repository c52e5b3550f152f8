import { resolve } from "node:path";
import type { Config, EnvironmentFile } from "../config/index.ts";
import { configuredSources, keyStamp, type Loaded, type OpenOptions } from "../configured/index.ts";
import { runDoctor as doctor } from "../doctor/index.ts";
import { errorReason, hasParameters, PLATFORM } from "../domain/index.ts";
import type { Handler } from "../handlers/index.ts";
import { type ReconcileRequest, reconcileSource } from "../reconcile/index.ts";
import { type ImportReport, type ImportRequest, importSeen } from "../retry/index.ts";
import { IDENTITY_TEXTS, type SourceDefinition } from "../sources/index.ts";
import { type IntegrityReport, MaintenanceError, type PoolSettings } from "../store/index.ts";
import type { Restored } from "../store/sqlite/index.ts";
import { systemClock } from "../system/index.ts";
import { inspectDatabase, openForCommand } from "./open-store.ts";

export type DatabaseLocation = Pick<Config, "database" | "environment">;

/** Holds the configured database, or an SQLite file, against its invariants. @throws MaintenanceError */
export function verifyDatabase({ database }: DatabaseLocation, file?: string): Promise<IntegrityReport> {
  return withMaintenanceError(`${databaseName(database, file)} cannot be read`, async () => {
    if (file === undefined && database.kind === "postgres") {
      const { checkPostgres } = await import("../store/postgres/index.ts");
      return checkPostgres(database.connection, database.schema ?? undefined);
    }
    const { checkSqlite } = await import("../store/sqlite/index.ts");
    return checkSqlite(resolve(file ?? sqlitePath(database)));
  });
}

export function backup({ database }: DatabaseLocation, to: string): Promise<IntegrityReport> {
  return withMaintenanceError(`${databaseName(database)} cannot be copied`, async () => {
    const path = sqlitePath(database);
    const { backupSqlite } = await import("../store/sqlite/index.ts");
    return backupSqlite(path, to);
  });
}

export function restore({ database, environment }: DatabaseLocation, from: string): Promise<Restored> {
  return withMaintenanceError(`${from} cannot be put in the place of ${databaseName(database)}`, async () => {
    const path = sqlitePath(database);
    const { restoreSqlite } = await import("../store/sqlite/index.ts");
    return restoreSqlite({ from, path, environment, now: systemClock.now() });
  });
}

/** A database in words for an operator, without its password. */
export function databaseName(database: Config["database"], file?: string): string {
  if (file !== undefined) return resolve(file);
  if (database.kind === "sqlite") return database.path;
  const { connection } = database;
  const schema = database.schema === null ? "" : `the schema ${database.schema} of `;
  const parts = typeof connection === "string" ? { connectionString: connection } : connection.settings;
  const { connectionString: url, database: name = "of the user's name", host } = parts as PoolSettings;
  if (url === undefined) return `${schema}the database ${name} on ${host ?? "this machine"}`;
  const address = URL.parse(url) ?? URL.parse(url.replace("@/", "@localhost/"));
  if (address === null) return "the database in DATABASE_URL";
  return `${schema}the database ${address.pathname.slice(1)} on ${address.host || "this machine"}`;
}

function sqlitePath(database: Config["database"]): string {
  if (database.kind === "sqlite") return database.path;
  throw new MaintenanceError(
    "DATABASE_URL is a PostgreSQL database; use its own tools (pg_basebackup and archived WAL, or pg_dump): docs/reliability.md",
  );
}

/** An error of the system or driver about a disk or server is for the operator, without a stack. */
export async function withMaintenanceError<T>(what: string, work: () => Promise<T>, variable = "DATABASE_URL") {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof MaintenanceError) throw cause;
    throw new MaintenanceError(`${variable}: ${what}: ${errorReason(cause)}`, { cause });
  }
}

/** Brings the database up to date without serving. @throws MigrationError or StartError */
export async function migrate(loaded: Loaded, options?: OpenOptions): Promise<readonly string[]> {
  const { store, applied } = await openForCommand(loaded, options);
  await store.close();
  return applied;
}

export interface CopyRequest extends Loaded {
  readonly from: string;
  readonly skip: readonly string[];
  onProgress(table: string, copied: number, rows: number): void;
}

export type CopyReport = Awaited<ReturnType<typeof copyDatabase>>;

/**
 * Copies an SQLite database to PostgreSQL, or continues where an earlier run ended, and compares every row at the end.
 * @throws MaintenanceError, MigrationError or StartError; the source is never changed
 */
export async function copyDatabase(request: CopyRequest) {
  const { from, config } = request;
  const { database, environment } = config;
  if (database.kind !== "postgres")
    throw new MaintenanceError("--to: the target must be a PostgreSQL database, as postgres://user@host/name");
  const { assertCopyable, copyRows, openCopySource, openCopyTarget } = await import("../store/copy/index.ts");
  const source = await withMaintenanceError(`${from} cannot be copied`, async () => openCopySource(from), "--from");
  try {
    assertCopyable(source, { from, environment, keys: keyStamp(config) });
    await migrate(request, { continuesCopy: true });
    const to = databaseName(database);
    const copied = await withMaintenanceError(`the copy to ${to} was interrupted`, async () =>
      copyRows(source, await openCopyTarget(database.connection, database.schema ?? undefined), request),
    );
    return { from, to, ...copied, checked: await verifyDatabase(config) };
  } finally {
    source.close();
  }
}

/** A tenant of it is named beside it. */
export interface ImportOnceRequest extends ImportRequest {
  readonly tenant: string | undefined;
}

/**
 * Writes the records of events that another program handled, beside a receiver or without one. It may be stopped at any
 * time, and run again.
 * @throws MaintenanceError for a source whose events have another key than the platform's id. StartError if the database
 *   cannot be opened
 */
export async function importSeenOnce(loaded: Loaded, request: ImportOnceRequest): Promise<ImportReport> {
  const { source: name, tenant, isDryRun } = request;
  const configured = await configuredSources(loaded.config);
  if (name !== PLATFORM) assertHasIds(configured.find((one) => one.name === name)?.definition, request);
  const { store, registry } = await openForCommand(loaded, { changesNothing: isDryRun }, configured);
  try {
    const source = tenant === undefined ? name : `${name}/${tenant}`;
    return await importSeen({ ...request, source }, { store, registry });
  } finally {
    await store.close();
  }
}

function assertHasIds(definition: SourceDefinition | undefined, { source, tenant }: ImportOnceRequest): void {
  const name = JSON.stringify(source);
  if (definition === undefined) throw new MaintenanceError(`there is no source ${name}`);
  const { identity, settings } = definition;
  if (identity === "bytes" || identity === "delivery")
    throw new MaintenanceError(
      `the key of an event of ${name} is no id of the platform (${IDENTITY_TEXTS[identity]}): a table of ids says nothing ` +
        "of it. Keep the old route until the platform has stopped sending again what it handled",
    );
  if (hasParameters(settings.path) !== (tenant !== undefined))
    throw new MaintenanceError(
      tenant === undefined
        ? `--tenant: is missing; each value of ${settings.path} is a tenant of ${name} with events of its own`
        : `--tenant: the source ${name} has no tenants; leave it out`,
    );
}

export const reconcileOnce = (loaded: Loaded, request: ReconcileRequest) =>
  reconcileSource(loaded, request, openForCommand);

export const runDoctor = (
  config: Config,
  registered: readonly string[],
  files: readonly EnvironmentFile[],
  handlers: readonly Handler[] = [],
) => doctor({ config, inspect: inspectDatabase }, registered, files, handlers);
