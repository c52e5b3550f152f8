import { resolve } from "node:path";
import type { Config } from "./config.ts";
import type { Problems } from "./problems.ts";
import { ConfigError, createProblems } from "./problems.ts";
import { isLoopbackHost } from "./public-host.ts";
import type { Environment, Values } from "./read-variables.ts";
import { readVariables } from "./read-variables.ts";
import { percentDecoded } from "./variable.ts";
import { VARIABLES } from "./variables.ts";

const DEFAULT_DATABASE = "sqlite:./data/oncehook.db";

/** Which database these variables name. */
export function databaseOf(values: Values, env: Environment): Config["database"] {
  const url = values.DATABASE_URL ?? DEFAULT_DATABASE;
  if (url.startsWith("sqlite:")) return { kind: "sqlite", path: resolve(url.slice("sqlite:".length)) };
  return {
    kind: "postgres",
    url,
    poolSize: values.POOL_SIZE ?? 10,
    schema: values.DATABASE_SCHEMA ?? null,
    unverifiedHost: unverifiedHost(url, env),
  };
}

/** What must fit together about the database; a command that looks after one alone checks the same. */
export function checkDatabaseVariables(values: Values, env: Environment, problems: Problems): void {
  const { DATABASE_URL: url = DEFAULT_DATABASE, DATABASE_SCHEMA: schema } = values;
  if (url.startsWith("sqlite:")) {
    if (schema !== undefined) {
      problems.add(
        ["DATABASE_SCHEMA"],
        "is set, but DATABASE_URL names SQLite, which has no schemas; take it away, or use a file of its own",
        ["DATABASE_URL"],
      );
    }
    return;
  }
  const host = unverifiedHost(url, env);
  if (values.APP_ENV !== "production" || host === null || values.DATABASE_TLS === "off") return;
  problems.add(
    ["DATABASE_URL"],
    `leads over a network, to ${host}, without verified TLS: the password and every event could be read on the way, or ` +
      "another server could answer. Add sslmode=verify-full to it, and sslrootcert=<file> where the server's certificate " +
      "authority is not a public one; or set DATABASE_TLS=off on a private network",
    ["DATABASE_TLS", "APP_ENV"],
  );
}

/** The host of a PostgreSQL that the driver would reach over a network, without verifying its certificate. */
function unverifiedHost(url: string, env: Environment): string | null {
  // The driver takes credentials without a host, as libpq does, and the last one where a parameter stands twice.
  const address = URL.parse(url) ?? URL.parse(url.replace("@/", "@localhost/"));
  if (address === null) return "an address that cannot be read (percent-encode the password)";
  const last = (name: string) => address.searchParams.getAll(name).at(-1) || undefined;
  const named = last("host") ?? percentDecoded(address.hostname) ?? address.hostname;
  const host = named === "" ? (env.PGHOST ?? "localhost") : named;
  const isSocket = host.startsWith("/");
  return isSocket || isLoopbackHost(host) || last("sslmode") === "verify-full" ? null : host;
}

const READ: ReadonlySet<string> = new Set([
  "APP_ENV",
  "DATABASE_URL",
  "DATABASE_TLS",
  "DATABASE_SCHEMA",
  "POOL_SIZE",
]);

/**
 * Only the database settings: maintenance commands need no secrets, and generate none.
 * @throws ConfigError
 */
export function loadDatabase(env: Environment): Pick<Config, "database" | "environment"> {
  const problems = createProblems();
  // A misspelt name is reported too: it may mean DATABASE_URL.
  const asked = Object.entries(env).filter(([name]) => READ.has(name) || !(name in VARIABLES));
  const values = readVariables(Object.fromEntries(asked), problems);
  checkDatabaseVariables(values, env, problems);
  if (problems.texts.length > 0) throw new ConfigError(problems.texts);
  return { database: databaseOf(values, env), environment: values.APP_ENV ?? "development" };
}
