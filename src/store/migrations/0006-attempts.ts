import type { SchemaStep } from "./schema-step.ts";

/**
 * What is known of retries and replays. The attempts are history: they go with the callback log, whose rows tell of the attempts
 * inside callbacks.
 *
 * The index of the list of failures holds what they are filtered by, so that a filter that finds little reads no row that it
 * does not show: a row holds an error with its stack, and the event.
 */
export const attempts: SchemaStep = {
  number: 6,
  name: "attempts",
  statements: ({ id, time, bigint, eventId }) => [
    `CREATE TABLE oncehook_attempts (
      id ${id},
      source text NOT NULL,
      event_id ${eventId} NOT NULL,
      began_at ${time} NOT NULL,
      made_by text NOT NULL CHECK (made_by IN ('retry', 'replay', 'bulk')),
      outcome text NOT NULL,
      error text,
      took_ms double precision NOT NULL
    )`,
    "CREATE INDEX oncehook_attempts_event ON oncehook_attempts (event_id, id)",
    `CREATE TABLE oncehook_bulk_replays (
      id ${id},
      filter text NOT NULL,
      per_second integer NOT NULL,
      begun_by text NOT NULL,
      state text NOT NULL CHECK (state IN ('running', 'paused', 'cancelled', 'done')),
      total ${bigint} NOT NULL,
      succeeded ${bigint} NOT NULL,
      already ${bigint} NOT NULL,
      failed ${bigint} NOT NULL,
      after_id ${bigint} NOT NULL,
      up_to_id ${bigint} NOT NULL,
      begun_at ${time} NOT NULL,
      ended_at ${time},
      lease_owner text,
      leased_until ${time}
    )`,
    "CREATE INDEX oncehook_bulk_replays_running ON oncehook_bulk_replays (id) WHERE state = 'running'",
    // Which bulk replay tried it last: written with the failure itself, so that none tries it twice, whatever dies between.
    `ALTER TABLE oncehook_failures ADD COLUMN bulk_replay_id ${bigint}`,
    "DROP INDEX oncehook_failures_listed",
    "CREATE INDEX oncehook_failures_listed ON oncehook_failures (state, id, event_type, code, source)",
  ],
};
