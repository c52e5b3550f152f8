import { access } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Migration } from "../store/index.ts";
import { ConfigError } from "./config-error.ts";
import { loadProblem } from "./load-problem.ts";
import { nearMiss } from "./near-miss.ts";

/** What `oncehook.config.ts` exports by default: code, where the environment holds values. */
export interface ConfigFile {
  readonly handlers?: readonly ConfiguredHandler[];
  /** Tables of the user's own, applied in this order after the handlers'. */
  readonly migrations?: readonly Migration[];
}

/** The shape of what `defineHandler` returns, as far as configuration looks at it. */
export interface ConfiguredHandler {
  readonly type: string;
  readonly handle: (context: never) => unknown;
}

/** Where the file is looked for, in this order. */
export const CONFIG_FILE_NAMES = [
  "oncehook.config.ts",
  "oncehook.config.mts",
  "oncehook.config.js",
  "oncehook.config.mjs",
];
const KEYS = ["handlers", "migrations"];

/** For editors: the file's export with its types. */
export function defineConfig(file: ConfigFile): ConfigFile {
  return file;
}

/** Loads the configuration file, where there is one. @throws ConfigError that names the file and what is wrong */
export async function loadConfigFile(cwd: string, named?: string): Promise<ConfigFile> {
  const file = named === undefined ? await find(cwd) : resolve(cwd, named);
  if (file === undefined) return {};
  if (!(await exists(file))) {
    throw new ConfigError([
      `${file}: does not exist; --config names the configuration file, from the folder of the start`,
    ]);
  }
  let module: { default?: unknown };
  try {
    module = await import(pathToFileURL(file).href);
  } catch (cause) {
    throw new ConfigError([loadProblem(file, cause)]);
  }
  const problems = problemsOf(module.default);
  if (problems.length > 0) throw new ConfigError(problems.map((problem) => `${file}: ${problem}`));
  return module.default as ConfigFile;
}

async function find(cwd: string): Promise<string | undefined> {
  for (const name of CONFIG_FILE_NAMES) {
    const file = resolve(cwd, name);
    if (await exists(file)) return file;
  }
  return undefined;
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

function problemsOf(file: unknown): string[] {
  if (typeof file !== "object" || file === null)
    return ["expected a default export: defineConfig({ handlers: […] })"];
  const { handlers = [], migrations = [] } = file as Record<string, unknown>;
  return [
    ...Object.keys(file)
      .filter((key) => !KEYS.includes(key))
      .map((key) => `${key}: no such key; ${suggestion(key)}`),
    ...itemProblems("handlers", handlers, "type", "handle", "what defineHandler returns"),
    ...repeated(handlers),
    ...itemProblems("migrations", migrations, "name", "up", "{ name, up(tx) }"),
  ];
}

/** Two handlers of one type and version: which of them should run, nobody could say. */
function repeated(handlers: unknown): string[] {
  if (!Array.isArray(handlers)) return [];
  const first = new Map<string, number>();
  return handlers.flatMap((handler: unknown, index) => {
    const { type, versions } = (handler ?? {}) as { type?: unknown; versions?: unknown };
    if (typeof type !== "string" || !Array.isArray(versions)) return [];
    return versions.flatMap((version: unknown) => {
      const name = `"${type}" in ${String(version)}`;
      const other = first.get(name);
      if (other === undefined) first.set(name, index);
      return other === undefined
        ? []
        : [`handlers[${index}]: handlers[${other}] is for ${name} as well; keep one of them`];
    });
  });
}

function suggestion(key: string): string {
  const meant = nearMiss(key, KEYS);
  return meant === undefined ? `there are ${KEYS.join(" and ")}` : `did you mean ${meant}?`;
}

function itemProblems(
  list: string,
  items: unknown,
  text: string,
  method: string,
  expected: string,
): string[] {
  if (!Array.isArray(items)) return [`${list}: expected a list`];
  return items.flatMap((item: unknown, index) => {
    const fields = (typeof item === "object" && item !== null ? item : {}) as Record<string, unknown>;
    const fits = typeof fields[text] === "string" && typeof fields[method] === "function";
    return fits ? [] : [`${list}[${index}]: expected ${expected}`];
  });
}
