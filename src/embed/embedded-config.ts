import {
  APPLICATION_PREFIX,
  applicationVariables,
  type Config,
  ConfigError,
  type ConfigFile,
  loadConfig,
  renameVariables,
  startsFlows,
} from "../config/index.ts";
import { closestName, endpointPaths } from "../domain/index.ts";
import type { ReceiverOptions } from "./receiver.ts";

const OPTIONS = ["database", "baseUrl", "variables", "logger", "background", "admin"];

/** @throws ConfigError that names each problem as its author wrote it: an option, or a variable with its prefix */
export function embeddedConfig(file: ConfigFile, options: ReceiverOptions): Config {
  const { variables = applicationVariables(process.env) } = options;
  const { database = variables.DATABASE_URL, baseUrl = variables.CALLBACK_BASE_URL } = options;
  const merged = { ...variables, DATABASE_URL: undefined, CALLBACK_BASE_URL: baseUrl };
  const problems = [...optionProblems(options), ...(database ? [] : [NO_DATABASE])];
  try {
    const origins = new Map(inCode(options).map((name) => [name, "code" as const]));
    const nameOf = (name: string) => nameInCode(name, options);
    const config = loadConfig(merged, file, {
      ...{ isEmbedded: true, database: database || ANY_DATABASE },
      ...{ origins, nameOf },
    });
    if (problems.length === 0) return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems.map((text) => renamed(text, options)));
  }
  throw new ConfigError(problems);
}

const ANY_DATABASE = "sqlite:none";
const NO_DATABASE =
  `database: is not set; give createReceiver a database: "postgres://user:password@host/database" or "sqlite:<file>", ` +
  `or set ${APPLICATION_PREFIX}DATABASE_URL`;

const LOG_METHODS = ["debug", "info", "warn", "error"] as const;

function optionProblems(options: ReceiverOptions): string[] {
  const problems = Object.keys(options).flatMap((key) => {
    if (OPTIONS.includes(key)) return [];
    const meant = closestName(key, OPTIONS);
    return [
      `${key}: no such option; ${meant === undefined ? `there are ${OPTIONS.join(", ")}` : `did you mean ${meant}?`}`,
    ];
  });
  const { background = "loops", logger, admin } = options;
  if (!["loops", "none"].includes(background))
    problems.push(`background: got ${JSON.stringify(background)}, expected "loops" or "none"`);
  const missing = logger === undefined ? [] : LOG_METHODS.filter((name) => typeof logger?.[name] !== "function");
  if (missing.length > 0)
    problems.push(
      `logger: has no method ${missing.join(", ")}; expected debug, info, warn and error, as pino has them`,
    );
  if (admin !== undefined && typeof admin?.authorize !== "function")
    problems.push("admin: has no function authorize(request), which says who may use the page");
  return problems;
}

const renamed = (text: string, options: ReceiverOptions): string =>
  renameVariables(text, (name) => nameInCode(name, options));

function nameInCode(name: string, { database, baseUrl, variables }: ReceiverOptions): string {
  if (name === "DATABASE_URL" && database !== undefined) return "database";
  if (name === "CALLBACK_BASE_URL" && baseUrl !== undefined) return "baseUrl";
  return variables === undefined ? `${APPLICATION_PREFIX}${name}` : name;
}

/** The variables that the application's code sets. */
function inCode({ database, baseUrl, variables = {} }: ReceiverOptions): string[] {
  return [
    ...Object.keys(variables),
    ...(database === undefined ? [] : ["DATABASE_URL"]),
    ...(baseUrl === undefined ? [] : ["CALLBACK_BASE_URL"]),
  ];
}

/** The paths of all addresses that a receiver serves in an application. */
export function servedPaths(config: Config): string[] {
  const { callbacks, redirect, start, done } = endpointPaths(config.basePath, config.redirect.scopePath, {
    startsFlows: startsFlows(config),
    servesPlatform: config.servesPlatform,
    // `SOURCES`, which would name others, is refused in an application.
    sources: config.sources.named.map(({ name, definition }) => ({ source: name, path: definition.settings.path })),
  });
  const oauth = config.oauth === null ? [] : [redirect, done, ...(start === undefined ? [] : [start])];
  return [...callbacks.map(({ path }) => path), ...oauth];
}
