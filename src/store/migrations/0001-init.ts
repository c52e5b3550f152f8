import type { SchemaStep } from "./schema-step.ts";

/**
 * The first schema. Records have a row id of their own because lists run newest first and a random event id
 * would scatter the table; times are ISO 8601 text on SQLite and timestamptz on PostgreSQL; bodies are bytes and
 * results text, so that nothing a platform may send can be refused by a column type.
 */
export const init: SchemaStep = {
  number: 1,
  name: "init",
  statements: ({ id, time, bytes, bigint, eventId }) => [
    `CREATE TABLE oncehook_records (
      id ${id},
      source text NOT NULL,
      event_id ${eventId} NOT NULL,
      event_type text NOT NULL,
      version text NOT NULL,
      status text NOT NULL CHECK (status IN ('processing', 'completed')),
      body_sha256 text NOT NULL,
      result text,
      created_at ${time} NOT NULL,
      processed_at ${time},
      UNIQUE (event_id, source)
    )`,
    "CREATE INDEX oncehook_records_created ON oncehook_records (created_at)",
    `CREATE TABLE oncehook_callbacks (
      id ${id},
      request_id text NOT NULL,
      received_at ${time} NOT NULL,
      source text,
      event_id ${eventId},
      event_type text,
      method text NOT NULL,
      url text NOT NULL,
      remote_address text NOT NULL,
      request_headers text NOT NULL,
      request_body text NOT NULL,
      outcome text NOT NULL,
      response_status integer NOT NULL,
      response_body text NOT NULL,
      processing_ms double precision NOT NULL,
      error text
    )`,
    "CREATE INDEX oncehook_callbacks_received ON oncehook_callbacks (received_at)",
    "CREATE INDEX oncehook_callbacks_event ON oncehook_callbacks (event_id, id)",
    `CREATE TABLE oncehook_failures (
      id ${id},
      source text NOT NULL,
      event_id ${eventId} NOT NULL,
      event_type text NOT NULL,
      version text NOT NULL,
      state text NOT NULL CHECK (state IN ('waiting', 'exhausted')),
      attempts integer NOT NULL,
      retries_done integer NOT NULL,
      code text NOT NULL,
      error text NOT NULL,
      sealed_body ${bytes} NOT NULL,
      first_failed_at ${time} NOT NULL,
      last_failed_at ${time} NOT NULL,
      next_attempt_at ${time},
      lease_owner text,
      leased_until ${time},
      UNIQUE (event_id, source)
    )`,
    "CREATE INDEX oncehook_failures_due ON oncehook_failures (state, next_attempt_at)",
    "CREATE INDEX oncehook_failures_listed ON oncehook_failures (state, id)",
    `CREATE TABLE oncehook_preparations (
      source text NOT NULL,
      event_id ${eventId} NOT NULL,
      lease_owner text,
      leased_until ${time},
      sealed_result ${bytes},
      created_at ${time} NOT NULL,
      PRIMARY KEY (event_id, source)
    )`,
    "CREATE INDEX oncehook_preparations_created ON oncehook_preparations (created_at)",
    `CREATE TABLE oncehook_notifications (
      id ${id},
      idempotency_key text NOT NULL UNIQUE,
      source text NOT NULL,
      event_id ${eventId} NOT NULL,
      topic text NOT NULL,
      payload text NOT NULL,
      state text NOT NULL CHECK (state IN ('pending', 'delivered', 'dead')),
      created_at ${time} NOT NULL
    )`,
    `CREATE TABLE oncehook_redirect_states (
      state_sha256 text PRIMARY KEY,
      expires_at ${time} NOT NULL,
      created_at ${time} NOT NULL
    )`,
    "CREATE INDEX oncehook_redirect_states_expires ON oncehook_redirect_states (expires_at)",
    `CREATE TABLE oncehook_rate_counters (
      key text PRIMARY KEY,
      points integer NOT NULL,
      reset_at_ms ${bigint} NOT NULL
    )`,
    "CREATE INDEX oncehook_rate_counters_reset ON oncehook_rate_counters (reset_at_ms)",
  ],
};
