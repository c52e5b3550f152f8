import { existsSync } from "node:fs";
import { parseEnv } from "node:util";
import { Command } from "commander";
import { ConfigError, type ConfigUse, loadConfigFile, loadEnvironment } from "../config/index.ts";
import type { Handler } from "../handlers/index.ts";
import type { Given } from "./output.ts";
import { readInput, UserError } from "./user-error.ts";

export type LoadedConfiguration = Awaited<ReturnType<typeof loadConfiguration>>;

export async function loadConfiguration(options: ConfigurationOptions = {}, use: ConfigUse = {}) {
  if (options.env !== undefined) loadEnvFile(options.env);
  const cwd = process.cwd();
  try {
    const file = await loadConfigFile(cwd, options.config);
    const handlers = (file.handlers ?? []) as readonly Handler[];
    const loaded = await loadEnvironment(process.env, cwd, file, use);
    return { ...loaded, handlers, migrations: file.migrations ?? [] };
  } catch (error) {
    if (!(error instanceof ConfigError) || options.env !== undefined || !existsSync(ENV_FILE)) throw error;
    if (!error.problems.some((problem) => UNSET.test(problem))) throw error;
    throw new ConfigError([...error.problems, UNREAD]);
  }
}

const ENV_FILE = ".env";
/** In the words of the presets, and of the table of variables. */
const UNSET = /is its variable set\?|: is not set/;
const UNREAD = `${ENV_FILE}: was not read; pass --env ${ENV_FILE}`;

export type ConfigurationOptions = Given<"env" | "config">;

export const ENV_OPTION = ["--env <file>", "read variables from a file as well; the environment wins"] as const;

export function configurationCommand(name: string): Command {
  return new Command(name)
    .option(...ENV_OPTION)
    .option("--config <file>", "the configuration file (default: oncehook.config.ts, where there is one)");
}

const ASSIGNMENT = /^\s*(?:export\s+)?[A-Za-z_][\w.-]*\s*=\s*(.*)$/;
const NOTHING = /^\s*(?:#.*)?$/;

/** Sets what the file holds, where the environment does not. @throws UserError */
export function loadEnvFile(file: string): void {
  const text = readInput(file, `--env: got "${file}", which`).toString();
  const wrong = invalidLine(text.split(/\r?\n/));
  // The line itself is not shown: it may be a part of a secret.
  if (wrong !== undefined)
    throw new UserError(`--env: "${file}", line ${wrong}: expected NAME=value, a comment after #, or nothing`);
  for (const [name, value] of Object.entries(parseEnv(text))) process.env[name] ??= value;
}

/** The number of the first invalid line, which Node's own reader ignores. */
function invalidLine(lines: readonly string[]): number | undefined {
  let quote: string | undefined;
  for (const [index, line] of lines.entries()) {
    if (quote !== undefined) {
      if (line.includes(quote)) quote = undefined;
      continue;
    }
    if (NOTHING.test(line)) continue;
    const [, value] = ASSIGNMENT.exec(line) ?? [];
    if (value === undefined) return index + 1;
    const [first = ""] = value;
    if (/["'`]/.test(first) && !value.slice(1).includes(first)) quote = first;
  }
  return undefined;
}
