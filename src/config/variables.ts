import { HANDLING_VARIABLES } from "./handling-variables.ts";
import { RECEPTION_VARIABLES } from "./reception-variables.ts";

/** Every variable the service reads. The README's table says the same, and a test holds it to that. */
export const VARIABLES = { ...RECEPTION_VARIABLES, ...HANDLING_VARIABLES } as const;

/** Variables that later versions will read; setting one now must not look as if it worked. */
export const NOT_YET = [
  "CALLBACK_TOKEN",
  "JWT_SECRET",
  "JWT_PUBLIC_KEY_FILE",
  "JWT_JWKS_URL",
  "JWT_ISSUER",
  "JWT_AUDIENCE",
  "JWT_ALGORITHM",
  "OAUTH_ISSUER",
  "NOTIFY_WEBHOOK_URL",
  "NOTIFY_WEBHOOK_SECRET",
  "NOTIFY_EMAIL_TO",
  "SMTP_URL",
] as const;
