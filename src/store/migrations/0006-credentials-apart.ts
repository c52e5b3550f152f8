import type { SchemaStep } from "./schema-step.ts";

/**
 * One row a secret, whatever place it has in the configuration. The rows before it told a place apart and not a secret,
 * so they say nothing that could be kept: `doctor` counts anew from the next start.
 */
export const credentialsApart: SchemaStep = {
  number: 6,
  name: "credentials-apart",
  statements: ({ time }) => [
    "DROP TABLE oncehook_credential_uses",
    `CREATE TABLE oncehook_credential_uses (
      method text NOT NULL,
      fingerprint text NOT NULL,
      previous_since ${time},
      last_used_at ${time},
      PRIMARY KEY (method, fingerprint)
    )`,
  ],
};
