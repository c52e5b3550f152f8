import type { SchemaStep } from "./schema-step.ts";

/** What a flow that was started here needs at its end, and the tokens of users, which are refreshed. */
export const oauth: SchemaStep = {
  number: 4,
  name: "oauth",
  statements: ({ time, bytes }) => [
    `ALTER TABLE oncehook_redirect_states ADD COLUMN sealed_flow ${bytes}`,
    `CREATE TABLE oncehook_user_tokens (
      user_id text PRIMARY KEY,
      sealed_tokens ${bytes} NOT NULL,
      expires_at ${time},
      refresh_at ${time},
      error text,
      lease_owner text,
      leased_until ${time},
      updated_at ${time} NOT NULL
    )`,
    "CREATE INDEX oncehook_user_tokens_refresh ON oncehook_user_tokens (refresh_at)",
  ],
};
