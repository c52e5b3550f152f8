import { ADMIN_VARIABLES } from "./admin.ts";
import { AUTHENTICATION_VARIABLES } from "./authentication.ts";
import { DATABASE_VARIABLES, ENCRYPTION_VARIABLES } from "./database.ts";
import { HANDLING_VARIABLES, LOG_VARIABLES } from "./handling.ts";
import { NOTIFICATION_VARIABLES } from "./notifications.ts";
import { OAUTH_VARIABLES } from "./oauth.ts";
import type { Reading } from "./read-variables.ts";
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
