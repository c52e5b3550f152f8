import { closestName } from "../domain/index.ts";
import { expectation, type ValuesOf, type Variable, type VariableTable } from "./variable.ts";

/** Every problem of a configuration at once; each names its variable and what is expected. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

/** The problems of a configuration: one a variable, and none that only follows from another one. */
export class Problems {
  readonly texts: string[] = [];
  /** Variables that get no further problem. */
  readonly reported = new Set<string>();

  /** Unless one of `names` has a problem already, or one of `causes`: without that it might be none. */
  add(names: readonly string[], message: string, causes: readonly string[] = []): void {
    if ([...names, ...causes].some((name) => this.reported.has(name))) return;
    this.texts.push(`${names.join(", ")}: ${message}`);
    for (const name of names) this.reported.add(name);
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

export type Reading<Table extends VariableTable> = ReturnType<typeof readVariables<Table>>;

/** Reads a table's variables and checks what their rows ask for. An empty variable counts as not set. */
export function readVariables<Table extends VariableTable>(table: Table, env: Environment) {
  const problems = new Problems();
  const rows = Object.entries<Variable>(table);
  checkNames(env, Object.keys(table), problems);
  const set = new Map<string, unknown>();
  for (const [name, row] of rows) {
    const value = read(name, row, env[name], problems);
    if (value !== undefined) set.set(name, value);
  }
  const isProduction = set.get("APP_ENV") === "production";
  for (const row of rows) checkRow(row, set, isProduction, problems);
  const values = rows.map(([name, row]) => {
    const usual = row.default === undefined ? undefined : row.schema.read(row.default);
    return [name, set.has(name) ? set.get(name) : usual];
  });
  return {
    values: Object.fromEntries(values) as ValuesOf<Table>,
    isProduction,
    problems,
    /** Whether the environment holds a valid value: a default does not count. */
    isSet: (name: keyof Table & string) => set.has(name),
  };
}

function read(name: string, row: Variable, raw: string | undefined, problems: Problems): unknown {
  if (raw === undefined || raw === "") return undefined;
  // A file that is read into a variable usually ends in a newline.
  const value = row.schema.read(row.secret ? raw.replace(/\r?\n$/, "") : raw);
  if (value !== undefined) return value;
  const got = row.secret ? `a value of ${Buffer.byteLength(raw)} bytes` : JSON.stringify(raw);
  problems.add([name], `got ${got}, expected ${row.hint?.(raw) ?? expectation(row)}`);
  return undefined;
}

function checkRow(
  [name, row]: readonly [string, Variable],
  set: ReadonlyMap<string, unknown>,
  isProduction: boolean,
  problems: Problems,
): void {
  const group = [name, ...(row.with ?? [])];
  const missing = group.filter((one) => !set.has(one) && !problems.reported.has(one));
  if (missing.length > 0 && missing.length < group.length) {
    const others = group.filter((one) => !missing.includes(one));
    problems.add(missing, `is not set, expected together with ${others.join(", ")}`);
  }
  if (!isProduction) return;
  const value = set.get(name);
  if (row.neededInProduction !== undefined && value === undefined)
    problems.add([name], `is not set; production needs ${row.neededInProduction}`);
  if (row.httpsInProduction && typeof value === "string" && !value.startsWith("https:")) {
    const got = row.secret ? "an http address" : JSON.stringify(value);
    problems.add([name], `got ${got}, expected an https address in production`);
  }
}

function checkNames(env: Environment, names: readonly string[], problems: Problems): void {
  for (const name of Object.keys(env)) {
    const meant = env[name] ? closestName(name, names) : undefined;
    if (meant === undefined) continue;
    problems.add([name], `is set, but there is no such variable; did you mean ${meant}?`);
    if (!env[meant]) problems.reported.add(meant);
  }
}
