import type { ColumnTypes, SchemaStep } from "./schema-steps.ts";

/**
 * The first schema. Times are ISO 8601 text on SQLite and timestamptz on PostgreSQL; bodies are bytes and results text,
 * so that nothing a platform may send can be refused by a column type.
 *
 * What every callback writes has a row id of its own, since lists run newest first and a random event id would scatter
 * the table, and no index that is not needed to find something: the retention job walks along the ids, which grow with
 * the time (decision 0017).
 */
export const init: SchemaStep = {
  number: 1,
  name: "init",
  statements: (types) => [...events(types), ...notifications(types), ...oauth(types), ...others(types)],
};

function events({ id, time, bytes, bigint, eventId }: ColumnTypes): string[] {
  return [
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
      callback_id ${bigint},
      UNIQUE (event_id, source)
    )`,
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
      error text,
      with_record smallint NOT NULL
    )`,
    // The row that commits with an event's record is found through the record: of two indexes by event, one is enough.
    "CREATE INDEX oncehook_callbacks_event ON oncehook_callbacks (event_id, id) WHERE with_record = 0",
    // `body_sha256` is of what was sent, which is not always that of the bytes that are kept for the retry.
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
      body_sha256 text NOT NULL,
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
  ];
}

/** How far a notification is its deliveries alone say, one for each channel, made after the handler's commit. */
function notifications({ id, time, bigint, eventId }: ColumnTypes): string[] {
  return [
    `CREATE TABLE oncehook_notifications (
      id ${id},
      source text NOT NULL,
      event_id ${eventId} NOT NULL,
      position integer NOT NULL,
      topic text NOT NULL,
      payload text NOT NULL,
      created_at ${time} NOT NULL,
      spread_at ${time}
    )`,
    "CREATE INDEX oncehook_notifications_fresh ON oncehook_notifications (id) WHERE spread_at IS NULL",
    `CREATE TABLE oncehook_deliveries (
      id ${id},
      notification_id ${bigint} NOT NULL REFERENCES oncehook_notifications (id) ON DELETE CASCADE,
      channel text NOT NULL,
      state text NOT NULL CHECK (state IN ('waiting', 'delivered', 'dead')),
      attempts integer NOT NULL,
      error text,
      next_attempt_at ${time},
      delivered_at ${time},
      lease_owner text,
      leased_until ${time},
      UNIQUE (notification_id, channel)
    )`,
    // Most deliveries are done, and no query looks for those.
    "CREATE INDEX oncehook_deliveries_due ON oncehook_deliveries (next_attempt_at) WHERE state = 'waiting'",
    `CREATE INDEX oncehook_deliveries_listed ON oncehook_deliveries (state, notification_id)
      WHERE state IN ('waiting', 'dead')`,
  ];
}

function oauth({ time, bytes }: ColumnTypes): string[] {
  return [
    `CREATE TABLE oncehook_redirect_states (
      state_sha256 text PRIMARY KEY,
      sealed_flow ${bytes},
      expires_at ${time} NOT NULL,
      created_at ${time} NOT NULL
    )`,
    "CREATE INDEX oncehook_redirect_states_expires ON oncehook_redirect_states (expires_at)",
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
  ];
}

function others({ time, bigint }: ColumnTypes): string[] {
  return [
    `CREATE TABLE oncehook_rate_counters (
      key text PRIMARY KEY,
      points integer NOT NULL,
      reset_at_ms ${bigint} NOT NULL
    )`,
    "CREATE INDEX oncehook_rate_counters_reset ON oncehook_rate_counters (reset_at_ms)",
    // One row a secret, whatever place it has in the configuration; keyed fingerprints, never the secrets themselves.
    `CREATE TABLE oncehook_credential_uses (
      method text NOT NULL,
      fingerprint text NOT NULL,
      previous_since ${time},
      last_used_at ${time},
      PRIMARY KEY (method, fingerprint)
    )`,
  ];
}
