import { ADMIN_VARIABLES } from "../src/config/admin.ts";
import { AUTHENTICATION_VARIABLES } from "../src/config/authentication.ts";
import { DATABASE_VARIABLES, ENCRYPTION_VARIABLES } from "../src/config/database.ts";
import { HANDLING_VARIABLES, LOG_VARIABLES } from "../src/config/handling.ts";
import { NOTIFICATION_VARIABLES } from "../src/config/notifications.ts";
import { OAUTH_VARIABLES } from "../src/config/oauth.ts";
import { LIMIT_VARIABLES, SERVER_VARIABLES } from "../src/config/server.ts";
import { SOURCE_VARIABLES } from "../src/config/sources.ts";
import { expectation, type VariableTable } from "../src/config/variable.ts";

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
