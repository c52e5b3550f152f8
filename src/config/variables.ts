import { ADMIN_VARIABLES } from "./admin.ts";
import { AUTHENTICATION_VARIABLES } from "./authentication.ts";
import { DATABASE_VARIABLES, ENCRYPTION_VARIABLES } from "./database.ts";
import { HANDLING_VARIABLES, LOG_VARIABLES } from "./handling.ts";
import { NOTIFICATION_VARIABLES } from "./notifications.ts";
import { OAUTH_VARIABLES } from "./oauth.ts";
import type { Environment, Reading } from "./read-variables.ts";
import { LIMIT_VARIABLES, SERVER_VARIABLES } from "./server.ts";
import { SOURCE_VARIABLES } from "./sources.ts";
import type { SecretKind, Variable } from "./variable.ts";

/** Every variable that the service reads. `npm run tables` writes all but the meanings in docs/configuration.md from it. */
export const VARIABLES = {
  ...SERVER_VARIABLES,
  ...DATABASE_VARIABLES,
  ...AUTHENTICATION_VARIABLES,
  ...SOURCE_VARIABLES,
  ...ENCRYPTION_VARIABLES,
  ...LIMIT_VARIABLES,
  ...HANDLING_VARIABLES,
  ...LOG_VARIABLES,
  ...OAUTH_VARIABLES,
  ...NOTIFICATION_VARIABLES,
  ...ADMIN_VARIABLES,
};

export type VariableName = keyof typeof VARIABLES;
export type ConfigReading = Reading<typeof VARIABLES>;
export type Values = ConfigReading["values"];

const ROWS = Object.entries<Variable>(VARIABLES) as [VariableName, Variable][];

export function secretNames(...kinds: readonly SecretKind[]): VariableName[] {
  return ROWS.flatMap(([name, { secret }]) => (secret !== undefined && kinds.includes(secret) ? [name] : []));
}

export const GENERATED = ROWS.flatMap(([name, { generated }]) => (generated ? [name] : []));

/** An application has its own listeners, decides who may use the page, and names the sources in its code. */
const OF_THE_SERVER = /^(?:HOST|PORT|CAPTURE|TLS_|MAX_CONNECTIONS|ADMIN_|SOURCES$)/;
export const isOfTheServer = (name: string): boolean => OF_THE_SERVER.test(name);

/** Other defaults hold in an application, whose proxy, log and callers are not known. */
const OF_AN_APPLICATION: Readonly<Record<string, { readonly default: string }>> = {
  RATE_LIMIT_DEFAULT: { default: "off" },
  RATE_LIMIT_CALLBACK: { default: "off" },
  LOG_LEVEL: { default: "warn" },
};

/** The same variables as a receiver in an application reads them. Those of the server stay at what they are by default. */
export const EMBEDDED_VARIABLES = Object.fromEntries(
  ROWS.map(([name, { neededInProduction, ...row }]) => {
    const isNeeded = neededInProduction !== undefined && name !== "CALLBACK_BASE_URL" && !isOfTheServer(name);
    return [name, { ...row, ...OF_AN_APPLICATION[name], ...(isNeeded && { neededInProduction }) }];
  }),
) as unknown as typeof VARIABLES;

/** Those of the server among what is set. An application has tracing of its own, which a handler's spans join. */
export function serversOwn(env: Environment): string[] {
  const isOwn = (name: string) => name.startsWith("OTEL_") || (name in VARIABLES && isOfTheServer(name));
  return Object.keys(env).filter((name) => env[name] && isOwn(name));
}
