import type { SchemaStep } from "./schema-step.ts";

/**
 * States of OAuth flows that were started here and have ended without a user. The flows themselves are kept in no row (decision
 * 0040); `sealed_flow` of `oncehook_redirect_states` is that of an earlier version, and not read any more.
 */
export const spentStates: SchemaStep = {
  number: 10,
  name: "spent-states",
  statements: ({ time }) => [
    `CREATE TABLE oncehook_spent_states (
      state_sha256 text PRIMARY KEY,
      expires_at ${time} NOT NULL
    )`,
    "CREATE INDEX oncehook_spent_states_expires ON oncehook_spent_states (expires_at)",
  ],
};
