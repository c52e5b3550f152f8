import type { SchemaStep } from "./schema-step.ts";

/** When each configured secret was accepted; the secrets themselves stay out, their keyed fingerprints tell them apart. */
export const credentialUses: SchemaStep = {
  number: 2,
  name: "credential-uses",
  statements: ({ time }) => [
    `CREATE TABLE oncehook_credential_uses (
      name text NOT NULL,
      fingerprint text NOT NULL,
      first_used_at ${time} NOT NULL,
      last_used_at ${time} NOT NULL,
      PRIMARY KEY (name, fingerprint)
    )`,
  ],
};
