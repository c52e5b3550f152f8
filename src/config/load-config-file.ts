import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type ConfigFile, fileProblems } from "./config-file.ts";
import { ConfigError } from "./read-variables.ts";

export const CONFIG_FILE_NAMES = [
  "oncehook.config.ts",
  "oncehook.config.mts",
  "oncehook.config.js",
  "oncehook.config.mjs",
];

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
