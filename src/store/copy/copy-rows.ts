import { isWrongKey, type KeyStamp, NEWEST_SCHEMA, WRONG_KEY } from "../migrations/apply-migrations.ts";
import { MaintenanceError } from "../store-errors.ts";
import type { CopyPair, CopyProgress, Fingerprint, SourceRow, SourceTable } from "./copy.ts";
import type { CopySource } from "./copy-source.ts";
import type { CopyTarget } from "./copy-target.ts";

/** Written by the migrations of each database for itself, or merged at the end of a copy. */
const NOT_COPIED = new Set(["oncehook_schema", "oncehook_handler_migrations", "oncehook_settings"]);
const BATCH = { rows: 500, bytes: 4 * 1_024 * 1_024 };

/** @throws MaintenanceError for a database of another environment, schema or ENCRYPTION_KEY */
export function assertCopyable(
  { schema, settings }: CopySource,
  { from, environment, keys }: { from: string; environment: string; keys: KeyStamp },
): void {
  const copied = settings.get("environment");
  if (copied !== undefined && copied !== environment)
    throw new MaintenanceError(
      `--from: ${from} belongs to the environment "${copied}", and this is APP_ENV=${environment}; ` +
        "environments do not share a database. Set APP_ENV, or name the other's file",
    );
  if (schema !== NEWEST_SCHEMA)
    throw new MaintenanceError(
      `--from: ${from} has schema ${schema}, and this version of Oncehook copies schema ${NEWEST_SCHEMA}. ` +
        (schema < NEWEST_SCHEMA
          ? `Run \`oncehook migrate\` with DATABASE_URL=sqlite:${from} first`
          : "Copy with the version that wrote it"),
    );
  if (isWrongKey(settings.get("key_id"), keys)) throw new MaintenanceError(`--from: ENCRYPTION_KEY: ${WRONG_KEY}`);
}

interface CopyRequest {
  readonly from: string;
  /** Tables of the user's to leave behind. */
  readonly skip: readonly string[];
  onProgress(table: string, copied: number, rows: number): void;
}

/** Copies all rows, or continues an earlier run, and compares every row; closes the target. @throws MaintenanceError */
export async function copyRows(source: CopySource, target: CopyTarget, request: CopyRequest) {
  try {
    const { pairs, left } = planCopy(source, target, request.skip);
    const { from } = request;
    const { progress } = target;
    const rowsOf = (pair: CopyPair) => batches(source.rows(pair.from.name, pair.fromColumns, undefined));
    const report = (found: readonly Fingerprint[], wasComplete: boolean) => ({
      /** Whether an earlier run had copied a part; with `wasComplete` it had copied everything. */
      continued: progress !== undefined,
      wasComplete,
      tables: pairs.map(({ to }, index) => ({ table: to, rows: found[index]?.rows ?? 0 })),
      notCopied: left.map(({ name, rows }) => ({ table: name, rows })),
    });
    const filled = target.tables.filter(({ name, isEmpty }) => !isEmpty && pairs.some(({ to }) => to === name));
    if (progress === undefined && filled.length > 0) {
      const found = await target.completed(pairs, rowsOf);
      if (found !== undefined) return report(found, true);
      throw new MaintenanceError(
        `the target has rows of its own in ${filled.map(({ name }) => `"${name}"`).join(", ")}; ${NEEDS_EMPTY}`,
      );
    }
    if (progress !== undefined && progress.from !== from)
      throw new MaintenanceError(
        `the target holds an unfinished copy of ${progress.from}; finish that one, or take an empty database`,
      );
    let positions = progress?.positions ?? {};
    await target.begin({ from, positions });
    for (const pair of pairs) positions = await copyTable(source, target, pair, { ...request, positions });
    return report(await target.finish(pairs, source.settings, rowsOf), false);
  } finally {
    await target.close();
  }
}

/** A copy into rows that are there already could not be told from them. */
const NEEDS_EMPTY =
  "a copy needs an empty database, in which no receiver has served. If an earlier run copied everything and a receiver has served " +
  "there since, nothing is left to copy. Otherwise create an empty one; rows that only a migration inserted can be deleted there";

async function copyTable(
  source: CopySource,
  target: CopyTarget,
  pair: CopyPair,
  { from, positions, onProgress }: Pick<CopyRequest, "from" | "onProgress"> & CopyProgress,
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

/** Which table goes where, those that others point to first. @throws MaintenanceError where rows would be left behind unasked */
function planCopy(source: CopySource, target: CopyTarget, skip: readonly string[]) {
  const ahead = target.migrations.filter((name) => !source.migrations.includes(name));
  if (ahead.length > 0)
    throw new MaintenanceError(
      `--from: these migrations were not applied to the source: ${ahead.join(", ")}. Run \`oncehook migrate\` with the ` +
        "source as DATABASE_URL and the same configuration file first, so that both have the same tables",
    );
  assertSkippable(source, skip);
  const pairs: CopyPair[] = [];
  const left: SourceTable[] = [];
  for (const table of source.tables.filter(({ name }) => !NOT_COPIED.has(name))) {
    const pair = skip.includes(table.name) ? undefined : pairOf(table, target);
    if (pair === undefined) left.push(table);
    else pairs.push(pair);
  }
  const lost = left.filter(({ name, rows }) => rows > 0 && !skip.includes(name));
  if (lost.length > 0)
    throw new MaintenanceError(
      `the target has no such tables, and their rows would stay behind: ${lost.map(({ name, rows }) => `"${name}" (${rows} rows)`).join(", ")}. ` +
        "Name the handlers and migrations that make them in oncehook.config.ts or HANDLERS, or leave a table behind " +
        "with --skip <table>",
    );
  return { pairs: inForeignKeyOrder(pairs, target), left };
}

function assertSkippable({ tables }: CopySource, skip: readonly string[]): void {
  const wrong = skip.find((name) => name.startsWith("oncehook_") || !tables.some((table) => table.name === name));
  if (wrong === undefined) return;
  const own = tables.map(({ name }) => name).filter((name) => !name.startsWith("oncehook_"));
  throw new MaintenanceError(
    `--skip: got "${wrong}", expected a table of your own: ${own.join(", ") || "there is none"}`,
  );
}

function pairOf(from: SourceTable, { tables }: CopyTarget): CopyPair | undefined {
  const to = tables.find(({ name }) => name === from.name) ?? tables.find(({ name }) => isSame(name, from.name));
  if (to === undefined) return undefined;
  const toColumns = to.columns.filter(({ isGenerated }) => !isGenerated);
  const fromColumns = toColumns.map((column) => from.columns.find((name) => isSame(name, column.name)));
  const missing = toColumns.filter((_column, index) => fromColumns[index] === undefined).map(({ name }) => name);
  const surplus = from.columns.filter((name) => !to.columns.some((column) => isSame(column.name, name)));
  if (missing.length + surplus.length > 0)
    throw new MaintenanceError(
      `table "${from.name}" has other columns in the target: ${[...missing, ...surplus].join(", ")} ` +
        `${missing.length + surplus.length === 1 ? "is" : "are"} in one of both only; bring both to the same migrations`,
    );
  return { from, fromColumns: fromColumns as string[], to: to.name, toColumns };
}

/** SQLite ignores the case of names; PostgreSQL lowers one without quotes. */
const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

function inForeignKeyOrder(pairs: readonly CopyPair[], { tables }: CopyTarget): CopyPair[] {
  const ordered: CopyPair[] = [];
  const visited = new Set<string>();
  const visit = (pair: CopyPair): void => {
    if (visited.has(pair.to)) return;
    visited.add(pair.to);
    const { pointsTo = [] } = tables.find(({ name }) => name === pair.to) ?? {};
    for (const other of pairs) if (pointsTo.includes(other.to)) visit(other);
    ordered.push(pair);
  };
  for (const pair of pairs) visit(pair);
  return ordered;
}
