import type { SchemaStep } from "./schema-step.ts";

/**
 * What a lease says of the attempt that it is for, so that a process which ends during the attempt has counted it; and when a time
 * was set, so that a clock that was set back shows (decision 0041). The indexes hold what is leased or suspect just now.
 */
export const uncleanEnds: SchemaStep = {
  number: 11,
  name: "unclean-ends",
  statements: ({ time, bigint }) => [
    "ALTER TABLE oncehook_failures ADD COLUMN lease_kind text",
    "ALTER TABLE oncehook_failures ADD COLUMN lease_alone smallint NOT NULL DEFAULT 0",
    `ALTER TABLE oncehook_failures ADD COLUMN lease_bulk_id ${bigint}`,
    `ALTER TABLE oncehook_failures ADD COLUMN leased_at ${time}`,
    "ALTER TABLE oncehook_failures ADD COLUMN unclean_ends integer NOT NULL DEFAULT 0",
    "CREATE INDEX oncehook_failures_leased ON oncehook_failures (leased_until) WHERE lease_owner IS NOT NULL",
    "CREATE INDEX oncehook_failures_suspect ON oncehook_failures (next_attempt_at) WHERE unclean_ends > 0",
    "ALTER TABLE oncehook_deliveries ADD COLUMN lease_alone smallint NOT NULL DEFAULT 0",
    `ALTER TABLE oncehook_deliveries ADD COLUMN scheduled_at ${time}`,
    "CREATE INDEX oncehook_deliveries_leased ON oncehook_deliveries (leased_until) WHERE lease_owner IS NOT NULL",
    "CREATE INDEX oncehook_deliveries_scheduled ON oncehook_deliveries (scheduled_at) WHERE state = 'waiting'",
    "CREATE INDEX oncehook_user_tokens_updated ON oncehook_user_tokens (updated_at)",
  ],
};
