import { nearMiss } from "./near-miss.ts";
import type { Problems } from "./problems.ts";
import type { ValuesOf, Variable } from "./variable.ts";
import { VARIABLES } from "./variables.ts";

export type Environment = Readonly<Record<string, string | undefined>>;
export type Values = ValuesOf<typeof VARIABLES>;

/** Reads every known variable; an empty one counts as not set. Problems are added, not thrown. */
export function readVariables(env: Environment, problems: Problems): Values {
  const names = Object.keys(VARIABLES);
  for (const name of Object.keys(env)) {
    if (env[name] === undefined || env[name] === "") continue;
    const meant = nearMiss(name, names);
    if (meant === undefined) continue;
    problems.add([name], `is set, but there is no such variable; did you mean ${meant}?`);
    if (!env[meant]) problems.settle(meant);
  }
  const values = names.map((name) => [name, read(name, env[name], problems)]);
  return Object.fromEntries(values) as Values;
}

function read(name: string, raw: string | undefined, problems: Problems): unknown {
  if (raw === undefined || raw === "") return undefined;
  const entry = VARIABLES[name as keyof typeof VARIABLES] as Variable<unknown>;
  // A file read into a variable commonly ends in a newline that nobody meant.
  const parsed = entry.schema.safeParse(entry.secret ? raw.replace(/\r?\n$/, "") : raw);
  if (parsed.success) return parsed.data;
  const got = entry.secret ? `a value of ${Buffer.byteLength(raw)} bytes` : JSON.stringify(raw);
  problems.add([name], `got ${got}, expected ${entry.hint?.(raw) ?? entry.expects}`);
  return undefined;
}
