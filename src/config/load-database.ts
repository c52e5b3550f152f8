import type { Config } from "./config.ts";
import { ConfigError } from "./config-error.ts";
import { checkDatabase, databaseOf } from "./database.ts";
import { createProblems } from "./problems.ts";
import { type Environment, readVariables } from "./read-variables.ts";
import { VARIABLES } from "./variables.ts";

const READ: ReadonlySet<string> = new Set([
  "APP_ENV",
  "DATABASE_URL",
  "DATABASE_TLS",
  "DATABASE_SCHEMA",
  "POOL_SIZE",
]);

/**
 * Which database it is, and no more: whoever looks after one needs no secrets, and none is generated for him.
 * @throws ConfigError
 */
export function loadDatabase(env: Environment): Pick<Config, "database" | "environment"> {
  const problems = createProblems();
  // A name that is misspelt is told all the same: what is meant may be DATABASE_URL.
  const asked = Object.entries(env).filter(([name]) => READ.has(name) || !(name in VARIABLES));
  const values = readVariables(Object.fromEntries(asked), problems);
  checkDatabase(values, env, problems);
  if (problems.texts.length > 0) throw new ConfigError(problems.texts);
  return { database: databaseOf(values, env), environment: values.APP_ENV ?? "development" };
}
