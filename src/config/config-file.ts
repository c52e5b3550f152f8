import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { closestName, PLATFORM } from "../domain/index.ts";
import type { SourceDefinition } from "../sources/index.ts";
import type { Migration } from "../store/index.ts";
import { ConfigError } from "./read-variables.ts";
import { sourceProblems } from "./sources.ts";

/** The default export of `oncehook.config.ts`: code, where the environment holds values. */
export interface ConfigFile {
  /** Platforms beside the built-in protocol, by the names of their addresses: `{ billing: stripe({ secret }) }`. */
  readonly sources?: Readonly<Record<string, SourceDefinition>>;
  readonly handlers?: readonly ConfiguredHandler[];
  /** Tables of the user's own, applied in this order after the handlers'. */
  readonly migrations?: readonly Migration[];
}

/** The shape of what `defineHandler` returns, as far as configuration looks at it. */
export interface ConfiguredHandler {
  readonly type: string;
  /** The built-in protocol when left out. */
  readonly source?: string;
  readonly handle: (context: never) => unknown;
}

export const CONFIG_FILE_NAMES = [
  "oncehook.config.ts",
  "oncehook.config.mts",
  "oncehook.config.js",
  "oncehook.config.mjs",
];
const LISTS = {
  handlers: { text: "type", method: "handle", expected: "what defineHandler returns" },
  migrations: { text: "name", method: "up", expected: "{ name, up(tx) }" },
};
const KEYS = ["sources", ...Object.keys(LISTS)];

export function defineConfig(file: ConfigFile): ConfigFile {
  return file;
}

/** Loads the configuration file, where there is one. @throws ConfigError that names the file and what is wrong */
export async function loadConfigFile(cwd: string, named?: string): Promise<ConfigFile> {
  const usual = CONFIG_FILE_NAMES.map((name) => resolve(cwd, name));
  const file = named === undefined ? usual.find((one) => existsSync(one)) : resolve(cwd, named);
  if (file === undefined) return {};
  if (!existsSync(file))
    throw new ConfigError([
      `${file}: does not exist; --config names the configuration file, from the folder of the start`,
    ]);
  const module: { default?: unknown } = await import(pathToFileURL(file).href).catch((cause: unknown) => {
    throw new ConfigError([loadErrorMessage(file, cause)]);
  });
  const problems = fileProblems(module.default);
  if (problems.length > 0) throw new ConfigError(problems.map((problem) => `${file}: ${problem}`));
  return module.default as ConfigFile;
}

/** The problems of a configuration file's content. */
export function fileProblems(file: unknown): string[] {
  if (typeof file !== "object" || file === null) return ["expected a default export: defineConfig({ handlers: […] })"];
  const content = file as Record<string, unknown>;
  const unknown = Object.keys(content).filter((key) => !KEYS.includes(key));
  return [
    ...unknown.map((key) => {
      const meant = closestName(key, KEYS);
      const known =
        meant === undefined ? `there are ${KEYS.slice(0, -1).join(", ")} and ${KEYS.at(-1)}` : `did you mean ${meant}?`;
      return `${key}: no such key; ${known}`;
    }),
    ...Object.entries(LISTS).flatMap(([list, { text, method, expected }]) => {
      const items = content[list] ?? [];
      if (!Array.isArray(items)) return [`${list}: expected a list`];
      return items.flatMap((item: unknown, index) => {
        const fields = (typeof item === "object" && item !== null ? item : {}) as Record<string, unknown>;
        const fits = typeof fields[text] === "string" && typeof fields[method] === "function";
        return fits ? [] : [`${list}[${index}]: expected ${expected}`];
      });
    }),
    ...sourceProblems(content.sources),
    ...repeated(content.handlers),
  ];
}

/** Two handlers of one type and version are ambiguous, unless they have different names. */
function repeated(handlers: unknown): string[] {
  if (!Array.isArray(handlers)) return [];
  const first = new Map<string, number>();
  return handlers.flatMap((handler: unknown, index) => {
    const { source = PLATFORM, name: handlerName, type, versions } = (handler ?? {}) as Record<string, unknown>;
    if (typeof type !== "string" || !Array.isArray(versions)) return [];
    return versions.flatMap((version: unknown) => {
      const ofSource = source === PLATFORM ? "" : ` of ${String(source)}`;
      const name = `"${type}"${ofSource} in ${String(version)}${handlerName === undefined ? "" : ` under the name ${String(handlerName)}`}`;
      const other = first.get(name);
      if (other === undefined) first.set(name, index);
      return other === undefined
        ? []
        : [`handlers[${index}]: handlers[${other}] is for ${name} as well; keep one of them, or name one`];
    });
  });
}

const POSITION = /^(?::\d+){1,2}/;
/** The beginning of the stack of a file that Node's parser cannot read. */
const PARSED = /^(file:\S+?)(:\d+)$/m;

/** The message for a file that could not be loaded, with the line at fault where the stack has it. */
function loadErrorMessage(file: string, cause: unknown): string {
  if (!(cause instanceof Error)) return `${file}: cannot be loaded: ${String(cause)}`;
  const position = positionIn(file, cause.stack ?? "") || positionIn(file, checked(file, cause));
  return `${file}${position}: cannot be loaded: ${cause.message}${meantFile(cause)}`;
}

const ENDINGS = [".ts", ".mts", ".js", ".mjs", "/index.ts", "/index.js"];

/** Node completes no path, and compiles no `x.ts` for an import of `x.js`. Names the file that was meant, if it exists. */
function meantFile(cause: Error): string {
  const { code = "", url = "" } = cause as { code?: string; url?: string };
  if (!/^ERR_(MODULE_NOT_FOUND|UNSUPPORTED_DIR_IMPORT)$/.test(code) || !url.startsWith("file:")) return "";
  const path = fileURLToPath(url);
  const bare = path.replace(/(?:\/|\.m?js)$/, "");
  const meant = ENDINGS.map((ending) => `${bare}${ending}`).find((file) => existsSync(file));
  return meant === undefined ? "" : `. There is ${meant}: an import names the whole file, with its ending`;
}

/** Node names no line when it imports plain JavaScript that it cannot parse. `node --check` does. */
function checked(file: string, cause: Error): string {
  if (!(cause instanceof SyntaxError)) return "";
  const { stderr } = spawnSync(process.execPath, ["--check", file], { encoding: "utf8" });
  return stderr.replace(file, () => pathToFileURL(file).href);
}

function positionIn(file: string, stack: string): string {
  const [, ...mentions] = stack.split(pathToFileURL(file).href);
  for (const rest of mentions) {
    const [position] = POSITION.exec(rest) ?? [];
    if (position !== undefined) return position;
  }
  const [, imported, line] = PARSED.exec(stack) ?? [];
  return imported === undefined ? "" : ` (it imports ${fileURLToPath(imported)}${line})`;
}
