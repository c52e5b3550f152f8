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
    const meant = closestName(name, names);
    if (meant === undefined) continue;
    problems.add([name], `is set, but there is no such variable; did you mean ${meant}?`);
    if (!env[meant]) problems.suppress(meant);
  }
  const values = names.map((name) => [name, read(name, env[name], problems)]);
  return Object.fromEntries(values) as Values;
}

function read(name: string, raw: string | undefined, problems: Problems): unknown {
  if (raw === undefined || raw === "") return undefined;
  const entry = VARIABLES[name as keyof typeof VARIABLES] as Variable<unknown>;
  // A file read into a variable commonly ends in an unintended newline.
  const parsed = entry.schema.safeParse(entry.secret ? raw.replace(/\r?\n$/, "") : raw);
  if (parsed.success) return parsed.data;
  const got = entry.secret ? `a value of ${Buffer.byteLength(raw)} bytes` : JSON.stringify(raw);
  problems.add([name], `got ${got}, expected ${entry.hint?.(raw) ?? entry.expects}`);
  return undefined;
}

const LONGEST_DISTANCE = 2;
/** Short names are too close to too many others: HOME and HOST, PATH and PORT. */
const SHORTEST_NAME = 6;

/** The known name that a misspelt one probably means. */
export function closestName(name: string, known: readonly string[]): string | undefined {
  if (known.includes(name)) return undefined;
  return known.find((candidate) =>
    Math.min(name.length, candidate.length) < SHORTEST_NAME
      ? isSwapped(name, candidate)
      : distance(name, candidate) <= LONGEST_DISTANCE,
  );
}

/** Whether two letters that stand side by side are the other way round: PROT for PORT. */
function isSwapped(a: string, b: string): boolean {
  const swapped = (at: number) =>
    a.slice(0, at) +
    a
      .slice(at, at + 2)
      .split("")
      .reverse()
      .join("") +
    a.slice(at + 2);
  return [...a].some((_, at) => swapped(at) === b);
}

/** Levenshtein's distance, given up where the lengths alone exceed what counts as near. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > LONGEST_DISTANCE) return Number.POSITIVE_INFINITY;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substituted = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
