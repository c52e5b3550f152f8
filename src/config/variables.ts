import { ACCESS_VARIABLES } from "./access-variables.ts";
import { AUTHENTICATION_VARIABLES } from "./authentication-variables.ts";
import { HANDLING_VARIABLES } from "./handling-variables.ts";
import { NOTIFICATION_VARIABLES } from "./notification-variables.ts";
import { OAUTH_VARIABLES } from "./oauth-variables.ts";
import { RECEPTION_VARIABLES } from "./reception-variables.ts";

/** Every variable the service reads. The tables of README.md, docs/access.md and docs/oauth.md say the same, and a test holds them to that. */
export const VARIABLES = {
  ...RECEPTION_VARIABLES,
  ...AUTHENTICATION_VARIABLES,
  ...HANDLING_VARIABLES,
  ...OAUTH_VARIABLES,
  ...NOTIFICATION_VARIABLES,
  ...ACCESS_VARIABLES,
} as const;

/** Those that nobody may see; an address with a password in it is no secret by itself. */
export const SECRET_NAMES = (Object.keys(VARIABLES) as (keyof typeof VARIABLES)[]).filter(
  (name) => "secret" in VARIABLES[name] && name !== "DATABASE_URL",
);
