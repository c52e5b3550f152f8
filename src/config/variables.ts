import { ADMIN_VARIABLES } from "./admin.ts";
import { AUTHENTICATION_VARIABLES } from "./authentication.ts";
import { DATABASE_VARIABLES, ENCRYPTION_VARIABLES } from "./database.ts";
import { HANDLING_VARIABLES, LOG_VARIABLES } from "./handling.ts";
import { NOTIFICATION_VARIABLES } from "./notifications.ts";
import { OAUTH_VARIABLES } from "./oauth.ts";
import { LIMIT_VARIABLES, SERVER_VARIABLES } from "./server.ts";
import { SOURCE_VARIABLES } from "./sources.ts";
import {
  expectation,
  type SecretKind,
  type ValuesOf,
  type Variable,
  type VariableTable,
} from "./variable.ts";

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
export type Values = ValuesOf<typeof VARIABLES>;

const ROWS = Object.entries<Variable>(VARIABLES) as [VariableName, Variable][];

export function secretNames(...kinds: readonly SecretKind[]): VariableName[] {
  return ROWS.flatMap(([name, { secret }]) => (secret !== undefined && kinds.includes(secret) ? [name] : []));
}

export const GENERATED = ROWS.flatMap(([name, { generated }]) => (generated ? [name] : []));

const SECTIONS: readonly (readonly [heading: string, VariableTable])[] = [
  ["Public listener", SERVER_VARIABLES],
  ["Database", DATABASE_VARIABLES],
  ["Authentication of callbacks", AUTHENTICATION_VARIABLES],
  ["Other platforms", SOURCE_VARIABLES],
  ["Encryption", ENCRYPTION_VARIABLES],
  ["Limits", LIMIT_VARIABLES],
  ["Handlers and retries", HANDLING_VARIABLES],
  ["Logs and retention", LOG_VARIABLES],
  ["OAuth", OAUTH_VARIABLES],
  ["Notifications and alerts", NOTIFICATION_VARIABLES],
  ["Admin access", ADMIN_VARIABLES],
];

/** The variables as docs/configuration.md shows them, each with the heading above it. */
export function describeVariables() {
  return SECTIONS.flatMap(([section, table]) =>
    Object.entries(table).map(([name, row]) => ({
      name,
      expects: expectation(row),
      default: row.defaultText ?? (row.generated ? "outside production, generated" : (row.default ?? "")),
      section,
    })),
  );
}
