import { ACCESS_VARIABLES } from "./access-variables.ts";
import { AUTHENTICATION_VARIABLES } from "./authentication-variables.ts";
import { HANDLING_VARIABLES } from "./handling-variables.ts";
import { NOTIFICATION_VARIABLES } from "./notification-variables.ts";
import { OAUTH_VARIABLES } from "./oauth-variables.ts";
import { SERVER_VARIABLES } from "./server-variables.ts";
import type { Variable } from "./variable.ts";

/** Every variable the service reads. The tables of README.md, docs/access.md and docs/oauth.md say the same, and a test holds them to that. */
export const VARIABLES = {
  ...SERVER_VARIABLES,
  ...AUTHENTICATION_VARIABLES,
  ...HANDLING_VARIABLES,
  ...OAUTH_VARIABLES,
  ...NOTIFICATION_VARIABLES,
  ...ACCESS_VARIABLES,
} as const;

/** Variables never shown; an address with a password in it is no secret by itself. */
export const SECRET_NAMES = (Object.keys(VARIABLES) as (keyof typeof VARIABLES)[]).filter(
  (name) => "secret" in VARIABLES[name] && name !== "DATABASE_URL",
);

export interface VariableDescription {
  readonly name: string;
  readonly expects: string;
  readonly default: string;
  readonly meaning: string;
  /** The page whose table has it. */
  readonly page: "README.md" | "docs/access.md" | "docs/oauth.md";
}

/** The variables, as the tables show them. */
export function describeVariables(): VariableDescription[] {
  return Object.entries<Variable<unknown>>(VARIABLES).map(([name, entry]) => ({
    name,
    expects: entry.expects,
    default: entry.default,
    meaning: entry.meaning,
    page: pageOf(name),
  }));
}

function pageOf(name: string): VariableDescription["page"] {
  if (name in ACCESS_VARIABLES) return "docs/access.md";
  return name.startsWith("OAUTH_") ? "docs/oauth.md" : "README.md";
}
