import {
  type CopyPair,
  type CopySource,
  type CopyTarget,
  MaintenanceError,
  NOT_COPIED,
  type SourceTable,
} from "../../store/index.ts";

/** Which table goes where, those that others point to first. @throws MaintenanceError where rows would be left behind unasked */
export function planCopy(source: CopySource, target: CopyTarget, skip: readonly string[]) {
  const ahead = target.migrations.filter((name) => !source.migrations.includes(name));
  if (ahead.length > 0)
    throw new MaintenanceError(
      `--from: these migrations were not applied to the source: ${ahead.join(", ")}. Run \`oncehook migrate\` with the ` +
        "source as DATABASE_URL and the same configuration file first, so that both have the same tables",
    );
  assertSkippable(source, skip);
  const wanted = source.tables.filter(({ name }) => !NOT_COPIED.has(name));
  const pairs: CopyPair[] = [];
  const left: SourceTable[] = [];
  for (const table of wanted) {
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
  const wrong = skip.find(
    (name) => name.startsWith("oncehook_") || !tables.some((table) => table.name === name),
  );
  if (wrong === undefined) return;
  const own = tables.map(({ name }) => name).filter((name) => !name.startsWith("oncehook_"));
  throw new MaintenanceError(
    `--skip: got "${wrong}", expected a table of your own: ${own.join(", ") || "there is none"}`,
  );
}

function pairOf(from: SourceTable, { tables }: CopyTarget): CopyPair | undefined {
  const to =
    tables.find(({ name }) => name === from.name) ?? tables.find(({ name }) => isSame(name, from.name));
  if (to === undefined) return undefined;
  const toColumns = to.columns.filter(({ isGenerated }) => !isGenerated);
  const fromColumns = toColumns.map((column) => from.columns.find((name) => isSame(name, column.name)));
  const missing = toColumns
    .filter((_column, index) => fromColumns[index] === undefined)
    .map(({ name }) => name);
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

/** A row is stored after those that its foreign keys point to. */
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

const filledOf = ({ tables }: CopyTarget, pairs: readonly CopyPair[]) =>
  tables.filter(({ name, isEmpty }) => !isEmpty && pairs.some(({ to }) => to === name));

export function isEmpty(target: CopyTarget, pairs: readonly CopyPair[]): boolean {
  return filledOf(target, pairs).length === 0;
}

/** A copy into rows that are there already could not be told from them. @throws MaintenanceError */
export function assertEmpty(target: CopyTarget, pairs: readonly CopyPair[]): void {
  const filled = filledOf(target, pairs);
  if (filled.length === 0) return;
  throw new MaintenanceError(
    `the target has rows of its own in ${filled.map(({ name }) => `"${name}"`).join(", ")}; a copy needs an empty ` +
      "database, in which no receiver has served. If an earlier run copied everything and a receiver has served there since, " +
      "nothing is left to copy. Otherwise create an empty one; rows that only a migration inserted can be deleted there",
  );
}
