import type { Config } from "../../config/index.ts";
import { systemClock } from "../../domain/index.ts";
import type { Handler } from "../../handlers/index.ts";
import {
  type CopyPair,
  type CopyProgress,
  type CopySource,
  type CopyTarget,
  type Fingerprint,
  FingerprintSum,
  type IntegrityReport,
  isWrongKey,
  MaintenanceError,
  type Migration,
  NEWEST_SCHEMA,
  type SourceRow,
  toPostgresText,
  WRONG_KEY,
} from "../../store/index.ts";
import { allMigrations } from "../handlers.ts";
import { databaseName, verifyDatabase, withMaintenanceError } from "../maintenance.ts";
import { connectStore, keyStamp } from "../open-store.ts";
import { assertEmpty, isEmpty, planCopy } from "./plan-copy.ts";

export interface CopyRequest {
  readonly from: string;
  readonly config: Config;
  readonly handlers: readonly Handler[];
  readonly migrations: readonly Migration[];
  /** Tables of handlers that stay behind. */
  readonly skip: readonly string[];
  onProgress(table: string, copied: number, rows: number): void;
}

export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
}

export interface CopyReport {
  readonly from: string;
  readonly to: string;
  readonly continued: boolean;
  /** Whether an earlier run had copied everything, so that nothing was left to copy. */
  readonly wasComplete: boolean;
  /** Every row of them was compared. */
  readonly tables: readonly CopiedTable[];
  readonly notCopied: readonly CopiedTable[];
  /** The target, checked against the invariants. */
  readonly checked: IntegrityReport;
}

const BATCH = { rows: 500, bytes: 4 * 1_024 * 1_024 };

/**
 * Copies an SQLite database to PostgreSQL, or continues where an earlier run ended, and compares every row at the end.
 * @throws MaintenanceError, MigrationError or StartError; the source is never changed
 */
export async function copyDatabase(request: CopyRequest): Promise<CopyReport> {
  const { from, config } = request;
  const { database } = config;
  if (database.kind !== "postgres")
    throw new MaintenanceError(
      "--to: the target must be a PostgreSQL database, as postgres://user@host/name",
    );
  const { openCopySource } = await import("../../store/sqlite/index.ts");
  const source = await withMaintenanceError(
    `${from} cannot be copied`,
    async () => openCopySource(from),
    "--from",
  );
  try {
    assertCopyable(source, request);
    const migrations = allMigrations(config, request.handlers, request.migrations);
    const { store } = await connectStore(config, migrations, systemClock, { continuesCopy: true });
    await store.close();
    const copied = await withMaintenanceError(`the copy to ${databaseName(database)} was interrupted`, () =>
      copyTo(database.url, source, request),
    );
    return { from, to: databaseName(database), ...copied, checked: await verifyDatabase(config) };
  } finally {
    source.close();
  }
}

function assertCopyable({ schema, settings }: CopySource, { from, config }: CopyRequest): void {
  const environment = settings.get("environment");
  if (environment !== undefined && environment !== config.environment)
    throw new MaintenanceError(
      `--from: ${from} belongs to the environment "${environment}", and this is APP_ENV=${config.environment}; ` +
        "environments do not share a database. Set APP_ENV, or name the other's file",
    );
  if (schema !== NEWEST_SCHEMA)
    throw new MaintenanceError(
      `--from: ${from} has schema ${schema}, and this version of Oncehook copies schema ${NEWEST_SCHEMA}. ` +
        (schema < NEWEST_SCHEMA
          ? `Run \`oncehook migrate\` with DATABASE_URL=sqlite:${from} first`
          : "Copy with the version that wrote it"),
    );
  if (isWrongKey(settings.get("key_id"), keyStamp(config)))
    throw new MaintenanceError(`--from: ENCRYPTION_KEY: ${WRONG_KEY}`);
}

async function copyTo(url: string, source: CopySource, request: CopyRequest) {
  const { openCopyTarget } = await import("../../store/postgres/index.ts");
  const target = await openCopyTarget(url);
  try {
    const { pairs, left } = planCopy(source, target, request.skip);
    const { from } = request;
    const progress = target.progress ?? { from, positions: {} };
    const expected = (pair: CopyPair) => fingerprintOf(source, pair);
    const report = (found: readonly Fingerprint[], wasComplete: boolean) => ({
      continued: target.progress !== undefined,
      wasComplete,
      tables: pairs.map(({ to }, index) => ({ table: to, rows: found[index]?.rows ?? 0 })),
      notCopied: left.map(({ name, rows }) => ({ table: name, rows })),
    });
    if (target.progress === undefined) {
      if (!isEmpty(target, pairs)) {
        const found = await target.completed(pairs, expected);
        if (found !== undefined) return report(found, true);
      }
      assertEmpty(target, pairs);
    } else if (progress.from !== from)
      throw new MaintenanceError(
        `the target holds an unfinished copy of ${progress.from}; finish that one, or take an empty database`,
      );
    await target.begin(progress);
    let positions = progress.positions;
    for (const pair of pairs) positions = await copyTable(source, target, pair, { ...request, positions });
    return report(await target.finish(pairs, source.settings, expected), false);
  } finally {
    await target.close();
  }
}

interface CopyState extends Pick<CopyRequest, "from" | "onProgress"> {
  readonly positions: CopyProgress["positions"];
}

async function copyTable(
  source: CopySource,
  target: CopyTarget,
  pair: CopyPair,
  { from, positions, onProgress }: CopyState,
): Promise<CopyProgress["positions"]> {
  const { name, rows } = pair.from;
  let { after, copied } = positions[name] ?? { after: undefined, copied: 0 };
  let done = positions;
  for (const batch of batches(source.rows(name, pair.fromColumns, after))) {
    after = batch.at(-1)?.position ?? "";
    copied += batch.length;
    done = { ...done, [name]: { after, copied } };
    await target.write(pair, batch, { from, positions: done });
    onProgress(name, copied, rows);
  }
  return done;
}

function* batches(rows: Iterable<SourceRow>): Generator<readonly SourceRow[]> {
  let batch: SourceRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    batch.push(row);
    for (const value of row.values)
      bytes += typeof value === "string" || value instanceof Uint8Array ? value.length : 8;
    if (batch.length < BATCH.rows && bytes < BATCH.bytes) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

function fingerprintOf(source: CopySource, { from, fromColumns, toColumns }: CopyPair) {
  const sum = new FingerprintSum();
  for (const { values } of source.rows(from.name, fromColumns, undefined))
    sum.add(
      toColumns.map((column, index) => toPostgresText(values[index] ?? null, column)),
      toColumns,
    );
  return sum.result();
}
