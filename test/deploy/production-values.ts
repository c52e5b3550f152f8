import { describeVariables } from "../../scripts/variable-rows.ts";
import { loadConfig, secretVariables } from "../../src/config/index.ts";
import { PRODUCTION } from "../support/configuration.ts";

const NAMES = new Set(describeVariables().map(({ name }) => name));
const SECRETS: Record<string, string> = {
  SIGNING_SECRET: PRODUCTION.SIGNING_SECRET,
  ENCRYPTION_KEY: PRODUCTION.ENCRYPTION_KEY,
  ADMIN_TOKEN: PRODUCTION.ADMIN_TOKEN,
  STRIPE_SECRET: "whsec_a-secret-of-32-characters-or-more",
  DATABASE_URL: "postgres://oncehook:password@postgres.example.com:5432/oncehook?sslmode=verify-full",
};

/** The names that are no variable of the configuration. */
export const unknownNames = (values: Record<string, string>) =>
  Object.keys(values).filter((name) => !NAMES.has(name) && !secretsOf(values).includes(name));
const secretsOf = ({ SOURCES = "" }: Record<string, string>) => SOURCES.split(",").flatMap(secretVariables);

/** The configuration of these values in production, secrets that were left empty filled in. @throws ConfigError */
export function productionConfig(values: Record<string, string>) {
  const filled = Object.entries(values).map(([name, value]) => [name, value === "" ? SECRETS[name] : value]);
  return loadConfig(Object.fromEntries(filled));
}
