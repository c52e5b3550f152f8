import { existsSync } from "node:fs";
import { parseEnv } from "node:util";
import { Command } from "commander";
import type { ConfigFile, ConfigUse, Environment } from "../config/index.ts";
import type { Handler } from "../handlers/index.ts";
import type { Given } from "./output.ts";
import { readInput, UserError } from "./user-error.ts";

/** Loaded on demand: many commands, such as `--help`, need no configuration. */
const configModules = () => import("./config-modules.ts");

export type LoadedConfiguration = Awaited<ReturnType<typeof loadConfiguration>>;

/** @param use `isEmbedded: false` for a command that is of the server, also in the folder of an application */
export async function loadConfiguration(options: ConfigurationOptions = {}, use: ConfigUse = {}) {
  const ofFile = options.env === undefined ? [] : loadEnvFile(options.env);
  const origins = new Map(ofFile.map((name) => [name, "env_file" as const]));
  const cwd = process.cwd();
  const { ConfigError, loadConfigFile, loadEnvironment } = await configModules();
  try {
    const file = await loadConfigFile(cwd, options.config);
    const handlers = (file.handlers ?? []) as readonly Handler[];
    const application = use.isEmbedded === false ? undefined : await applicationEnvironment();
    const loaded =
      application === undefined
        ? await loadEnvironment(process.env, cwd, file, { ...use, origins })
        : { config: await loadApplicationConfig(application, file), generated: [], secretsFile: undefined };
    return { ...loaded, handlers, migrations: file.migrations ?? [], isApplication: application !== undefined };
  } catch (error) {
    if (!(error instanceof ConfigError) || options.env !== undefined || !existsSync(ENV_FILE)) throw error;
    if (!error.problems.some((problem) => UNSET.test(problem))) throw error;
    throw new ConfigError([...error.problems, UNREAD]);
  }
}

/** Of the receiver in this folder's application; undefined where its database is not named. It says that it is used. */
export async function applicationEnvironment(): Promise<Environment | undefined> {
  const { APPLICATION_PREFIX, applicationVariables } = await configModules();
  const variables = applicationVariables(process.env);
  if (!variables.DATABASE_URL) return undefined;
  process.stderr.write(`oncehook: reads the variables ${APPLICATION_PREFIX}*, as createReceiver does, and no others\n`);
  return variables;
}

async function loadApplicationConfig(variables: Environment, file: ConfigFile) {
  const { ConfigError, loadConfig, renameVariables } = await configModules();
  try {
    return loadConfig(variables, file, { isEmbedded: true });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const problems = error.problems.map((text) => renameVariables(text));
    if (Object.keys(file).length > 0) throw new ConfigError(problems);
    // Sources that only the application's code has need no secret of the built-in protocol.
    throw new ConfigError([NO_FILE, ...problems.filter((text) => !/SIGNING_SECRET: is not set/.test(text))]);
  }
}

const NO_FILE =
  "there is no oncehook.config.ts in this folder: a command knows the sources and handlers of your application only by " +
  "that file. Export them there with defineConfig, and hand the same object to createReceiver";

const ENV_FILE = ".env";
/** In the words of the presets, and of the table of variables. */
const UNSET = /is its variable set\?|: is not set/;
const UNREAD = `${ENV_FILE}: was not read; pass --env ${ENV_FILE}`;

export type ConfigurationOptions = Given<"env" | "config">;

export const ENV_OPTION = ["--env <file>", "read variables from a file as well; the environment wins"] as const;

export const CONFIG_OPTION = [
  "--config <file>",
  "the configuration file (default: oncehook.config.ts, where there is one)",
] as const;

export function configurationCommand(name: string): Command {
  return new Command(name).option(...ENV_OPTION).option(...CONFIG_OPTION);
}

const ASSIGNMENT = /^\s*(?:export\s+)?[A-Za-z_][\w.-]*\s*=\s*(.*)$/;
const NOTHING = /^\s*(?:#.*)?$/;

/** Sets what the file holds, where the environment does not. @returns the names that it set @throws UserError */
export function loadEnvFile(file: string): string[] {
  const text = readInput(file, `--env: got "${file}", which`).toString();
  const wrong = invalidLine(text.split(/\r?\n/));
  // The line itself is not shown: it may be a part of a secret.
  if (wrong !== undefined)
    throw new UserError(`--env: "${file}", line ${wrong}: expected NAME=value, a comment after #, or nothing`);
  const values = Object.entries(parseEnv(text)).filter(([name]) => process.env[name] === undefined);
  for (const [name, value] of values) process.env[name] = value;
  return values.map(([name]) => name);
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
