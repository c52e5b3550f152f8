import { sql } from "kysely";
import type { Transaction } from "../transaction.ts";

/** One numbered step of the service's own schema. Never edited after a release; a change is a new step. */
export interface SchemaStep {
  readonly number: number;
  readonly name: string;
  /** Statements for `runStatements`. */
  readonly text: string;
}

/** The column types that differ by database. */
const COLUMN_TYPES = {
  // SQLite has no decimal type, and a `real` column would round an amount.
  sqlite: { id: "integer PRIMARY KEY", time: "text", bytes: "blob", eventId: "text", decimal: "text" },
  postgres: {
    id: "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    time: "timestamptz",
    bytes: "bytea",
    // Compared byte for byte, whatever the database's locale.
    eventId: 'text COLLATE "C"',
    decimal: "numeric",
  },
} as const;

/** Runs the statements of a text that end in `;`, without its lines of comments; `{time}` stands for the type of a time. */
export async function runStatements(
  { query, dialect }: Pick<Transaction, "query" | "dialect">,
  text: string,
): Promise<void> {
  const types: Readonly<Record<string, string>> = COLUMN_TYPES[dialect];
  const statements = text
    .replace(/^--.*\n/gm, "")
    .replace(/\{(\w+)\}/g, (_, name: string) => String(types[name]))
    .split(";");
  for (const statement of statements) if (statement.trim() !== "") await sql.raw(statement.trim()).execute(query);
}

/**
 * Times are ISO 8601 text on SQLite and timestamptz on PostgreSQL. Bodies are bytes and results text, so that no column type can
 * refuse what a platform sends.
 *
 * Tables that every callback writes have a row id of their own. Lists run newest first, and random event ids would scatter the
 * rows. Each of their indexes serves a look-up. The retention job walks along the ids, which grow with the time (decision 0017).
 */
const FIRST_RELEASE = `
CREATE TABLE oncehook_records (
  id {id},
  source text NOT NULL, event_id {eventId} NOT NULL, event_type text NOT NULL, version text NOT NULL,
  status text NOT NULL CHECK (status IN ('processing', 'completed')),
  body_sha256 text NOT NULL, result text, created_at {time} NOT NULL, processed_at {time},
  callback_id bigint,
  UNIQUE (event_id, source)
);
CREATE TABLE oncehook_preparations (
  source text NOT NULL, event_id {eventId} NOT NULL, lease_owner text, leased_until {time},
  encrypted_result {bytes}, created_at {time} NOT NULL,
  PRIMARY KEY (event_id, source)
);
CREATE INDEX oncehook_preparations_created ON oncehook_preparations (created_at);

-- Only events whose id is not signed have a row here: their signed bytes are a second key.
CREATE TABLE oncehook_signed_bytes (
  sha256 text NOT NULL, source text NOT NULL, event_id {eventId} NOT NULL, created_at {time} NOT NULL,
  PRIMARY KEY (sha256, source)
);
CREATE INDEX oncehook_signed_bytes_created ON oncehook_signed_bytes (created_at);
-- Secrets that platforms chose when their addresses were registered; the newest first in use.
CREATE TABLE oncehook_source_secrets (
  source text NOT NULL, fingerprint text NOT NULL, encrypted_secret {bytes} NOT NULL, learnt_at {time} NOT NULL,
  PRIMARY KEY (source, fingerprint)
);

-- diagnosis, refused_bytes and left_out come last: only refused callbacks name them (decisions 0036 and 0038). An index holds
-- the outcomes that are rare, so that no fresh callback writes to it (decision 0017).
CREATE TABLE oncehook_callbacks (
  id {id},
  request_id text NOT NULL, received_at {time} NOT NULL,
  source text, event_id {eventId}, event_type text,
  method text NOT NULL, url text NOT NULL, remote_address text NOT NULL,
  request_headers text NOT NULL, request_body text NOT NULL, outcome text NOT NULL,
  response_status integer NOT NULL, response_body text NOT NULL, processing_ms double precision NOT NULL,
  error text, with_record smallint NOT NULL, diagnosis text, refused_bytes bigint, left_out text
);
-- The entry that commits with an event's record is found through the record: one index by event is enough.
CREATE INDEX oncehook_callbacks_event ON oncehook_callbacks (event_id, id) WHERE with_record = 0;
CREATE INDEX oncehook_callbacks_rare ON oncehook_callbacks (outcome, id)
  WHERE outcome <> 'success' AND outcome <> 'already_processed';
CREATE INDEX oncehook_callbacks_refused ON oncehook_callbacks (id, refused_bytes)
  WHERE refused_bytes IS NOT NULL;
-- A search by time must know of entries that were stored late (decision 0031). One row stands for a group of them.
CREATE TABLE oncehook_late_callbacks (oldest {time} PRIMARY KEY, stored_at {time} NOT NULL);
-- bucket stands for a duration, slot is the start of a period in seconds since the epoch (domain/rollup.ts).
CREATE TABLE oncehook_rollups (
  step_seconds integer NOT NULL, slot bigint NOT NULL, source text NOT NULL, outcome text NOT NULL,
  bucket smallint NOT NULL, count bigint NOT NULL,
  PRIMARY KEY (step_seconds, slot, source, outcome, bucket)
);
-- Whole requests are encrypted: they carry valid signatures. bytes comes first, so that a sum of it reads no request.
CREATE TABLE oncehook_captured_requests (
  id {id},
  request_id text NOT NULL UNIQUE, received_at {time} NOT NULL, bytes integer NOT NULL,
  encrypted_request {bytes} NOT NULL
);

-- A lease holds what recovery needs if its process ends (decision 0041). The index of the list holds every column of its filters,
-- so that a filter reads only the rows that it shows: a row holds the event and an error with its stack.
-- body_sha256 is of the bytes that were sent, which a retry does not always keep.
CREATE TABLE oncehook_failures (
  id {id},
  source text NOT NULL, event_id {eventId} NOT NULL, event_type text NOT NULL, version text NOT NULL,
  state text NOT NULL CHECK (state IN ('accepted', 'waiting', 'exhausted')),
  attempts integer NOT NULL, retries_done integer NOT NULL, code text NOT NULL, error text NOT NULL,
  encrypted_body {bytes} NOT NULL, body_sha256 text NOT NULL,
  first_failed_at {time} NOT NULL, last_failed_at {time} NOT NULL, next_attempt_at {time},
  bulk_replay_id bigint, crashes integer NOT NULL DEFAULT 0,
  lease_owner text, leased_until {time}, leased_at {time},
  lease_kind text, lease_alone smallint NOT NULL DEFAULT 0, lease_bulk_id bigint,
  UNIQUE (event_id, source)
);
CREATE INDEX oncehook_failures_due ON oncehook_failures (state, next_attempt_at);
CREATE INDEX oncehook_failures_listed ON oncehook_failures (state, id, event_type, code, source);
CREATE INDEX oncehook_failures_leased ON oncehook_failures (leased_until) WHERE lease_owner IS NOT NULL;
CREATE INDEX oncehook_failures_suspect ON oncehook_failures (next_attempt_at) WHERE crashes > 0;

-- The attempts are history: they are deleted with the callback log, which holds the first attempts.
CREATE TABLE oncehook_attempts (
  id {id},
  source text NOT NULL, event_id {eventId} NOT NULL, started_at {time} NOT NULL,
  triggered_by text NOT NULL CHECK (triggered_by IN ('accepted', 'retry', 'replay', 'bulk')),
  outcome text NOT NULL, error text, duration_ms double precision NOT NULL
);
CREATE INDEX oncehook_attempts_event ON oncehook_attempts (event_id, id);
CREATE TABLE oncehook_bulk_replays (
  id {id},
  filter text NOT NULL, per_second integer NOT NULL, created_by text NOT NULL,
  state text NOT NULL CHECK (state IN ('running', 'paused', 'cancelled', 'done')),
  total bigint NOT NULL,
  succeeded bigint NOT NULL, already_handled bigint NOT NULL, failed bigint NOT NULL,
  after_id bigint NOT NULL, up_to_id bigint NOT NULL, started_at {time} NOT NULL, ended_at {time},
  lease_owner text, leased_until {time}
);
CREATE INDEX oncehook_bulk_replays_running ON oncehook_bulk_replays (id) WHERE state = 'running';

-- A notification has one delivery for each channel, made after the handler's commit; none where the only channel takes it at
-- once, which delivered_to names then.
CREATE TABLE oncehook_notifications (
  id {id},
  source text NOT NULL, event_id {eventId} NOT NULL, position integer NOT NULL,
  topic text NOT NULL, payload text NOT NULL, created_at {time} NOT NULL, fanned_out_at {time},
  delivered_to text
);
CREATE INDEX oncehook_notifications_fresh ON oncehook_notifications (id) WHERE fanned_out_at IS NULL;
CREATE TABLE oncehook_deliveries (
  id {id},
  notification_id bigint NOT NULL REFERENCES oncehook_notifications (id) ON DELETE CASCADE,
  channel text NOT NULL,
  state text NOT NULL CHECK (state IN ('waiting', 'delivered', 'dead')),
  attempts integer NOT NULL, error text,
  next_attempt_at {time}, scheduled_at {time}, delivered_at {time},
  lease_owner text, leased_until {time}, lease_alone smallint NOT NULL DEFAULT 0,
  UNIQUE (notification_id, channel)
);
-- Most deliveries are done, and no query looks for those.
CREATE INDEX oncehook_deliveries_due ON oncehook_deliveries (channel, next_attempt_at) WHERE state = 'waiting';
CREATE INDEX oncehook_deliveries_listed ON oncehook_deliveries (state, notification_id)
  WHERE state IN ('waiting', 'dead');
CREATE INDEX oncehook_deliveries_leased ON oncehook_deliveries (leased_until) WHERE lease_owner IS NOT NULL;
CREATE INDEX oncehook_deliveries_scheduled ON oncehook_deliveries (scheduled_at) WHERE state = 'waiting';

-- A flow that was started here has no row while it runs (decision 0040); oncehook_spent_states has those that ended.
CREATE TABLE oncehook_redirect_states (
  state_sha256 text PRIMARY KEY, expires_at {time} NOT NULL, created_at {time} NOT NULL
);
CREATE INDEX oncehook_redirect_states_expires ON oncehook_redirect_states (expires_at);
CREATE TABLE oncehook_spent_states (state_sha256 text PRIMARY KEY, expires_at {time} NOT NULL);
CREATE INDEX oncehook_spent_states_expires ON oncehook_spent_states (expires_at);
CREATE TABLE oncehook_user_tokens (
  user_id text PRIMARY KEY, encrypted_tokens {bytes} NOT NULL,
  expires_at {time}, refresh_at {time}, error text, lease_owner text, leased_until {time},
  updated_at {time} NOT NULL
);
CREATE INDEX oncehook_user_tokens_refresh ON oncehook_user_tokens (refresh_at);
CREATE INDEX oncehook_user_tokens_updated ON oncehook_user_tokens (updated_at);

CREATE TABLE oncehook_sessions (
  id_sha256 text PRIMARY KEY, actor text NOT NULL,
  role text NOT NULL CHECK (role IN ('viewer', 'operator')),
  credential_fingerprint text NOT NULL, started_at {time} NOT NULL, expires_at {time} NOT NULL
);
CREATE INDEX oncehook_sessions_expires ON oncehook_sessions (expires_at);
CREATE TABLE oncehook_audit (
  id {id},
  at {time} NOT NULL, actor text,
  role text CHECK (role IN ('viewer', 'operator')),
  remote_address text NOT NULL, action text NOT NULL, target text, detail text,
  outcome text CHECK (outcome IN ('done', 'refused', 'failed'))
);
CREATE INDEX oncehook_audit_action ON oncehook_audit (action, id);
CREATE INDEX oncehook_audit_actor ON oncehook_audit (actor, id);
CREATE TABLE oncehook_rate_counters (
  key text PRIMARY KEY, points integer NOT NULL, reset_at_ms bigint NOT NULL
);
CREATE INDEX oncehook_rate_counters_reset ON oncehook_rate_counters (reset_at_ms);
-- Keyed fingerprints, never the secrets; one row for each secret, whatever its place in the configuration.
CREATE TABLE oncehook_credential_uses (
  method text NOT NULL, fingerprint text NOT NULL, previous_since {time}, last_used_at {time},
  PRIMARY KEY (method, fingerprint)
);

-- The alert on signatures reads the rollups.
-- The alert on silence reads one row for each event type and day; day is UTC, in days since the epoch.
CREATE TABLE oncehook_arrival_days (
  source text NOT NULL, event_type text NOT NULL, day bigint NOT NULL, count bigint NOT NULL,
  longest_gap_ms bigint NOT NULL, last_ms bigint NOT NULL,
  PRIMARY KEY (source, event_type, day)
);
-- number grows with each change: of two processes that evaluate the same state, one changes it and notifies.
CREATE TABLE oncehook_alerts (
  kind text NOT NULL, source text NOT NULL, subject text NOT NULL, is_open smallint NOT NULL,
  number integer NOT NULL, since {time} NOT NULL,
  notified_count integer NOT NULL, notified_at {time} NOT NULL,
  PRIMARY KEY (kind, source, subject)
);
-- since_ms is when the evaluations began that have not been interrupted since.
CREATE TABLE oncehook_alert_turns (
  name text PRIMARY KEY, next_at_ms bigint NOT NULL, since_ms bigint NOT NULL
);
`;

export const initialSchema: SchemaStep = { number: 20, name: "schema", text: FIRST_RELEASE };

/** The tables that the migrations use themselves, by name. */
export const BOOKKEEPING: Readonly<Record<string, string>> = {
  oncehook_schema: `CREATE TABLE IF NOT EXISTS oncehook_schema (
    number integer PRIMARY KEY, name text NOT NULL, applied_at {time} NOT NULL)`,
  oncehook_handler_migrations: `CREATE TABLE IF NOT EXISTS oncehook_handler_migrations (
    handler text NOT NULL, name text NOT NULL, applied_at {time} NOT NULL, PRIMARY KEY (handler, name))`,
  oncehook_settings: "CREATE TABLE IF NOT EXISTS oncehook_settings (name text PRIMARY KEY, value text NOT NULL)",
};
