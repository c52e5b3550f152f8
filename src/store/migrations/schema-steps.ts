import type { Dialect } from "../transaction.ts";

/** One numbered step of the service's own schema. Never edited after a release; a change is a new step. */
export interface SchemaStep {
  readonly number: number;
  readonly name: string;
  statements(types: ColumnTypes): readonly string[];
}

/** Where the two databases spell a column differently. */
export interface ColumnTypes {
  readonly id: string;
  readonly time: string;
  readonly bytes: string;
  readonly bigint: string;
  /** Compared byte for byte, whatever the database's locale. */
  readonly eventId: string;
}

export const COLUMN_TYPES: Record<Dialect, ColumnTypes> = {
  sqlite: { id: "integer PRIMARY KEY", time: "text", bytes: "blob", bigint: "integer", eventId: "text" },
  postgres: {
    id: "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    time: "timestamptz",
    bytes: "bytea",
    bigint: "bigint",
    eventId: 'text COLLATE "C"',
  },
};

/**
 * The requests that `oncehook listen` fetches, encrypted whole: they carry credentials and signatures that are valid. `bytes`
 * stands before what it is the length of, so that adding lengths up reads no request.
 */
export const capturedRequests: SchemaStep = {
  number: 2,
  name: "heard",
  statements: ({ id, time, bytes }) => [
    `CREATE TABLE oncehook_heard (
      id ${id},
      request_id text NOT NULL UNIQUE,
      received_at ${time} NOT NULL,
      bytes integer NOT NULL,
      sealed_request ${bytes} NOT NULL
    )`,
  ],
};

/** The alerts that were sent. The two tables of arrivals are dropped in step 17. */
export const alerts: SchemaStep = {
  number: 3,
  name: "alerts",
  statements: ({ time, bigint }) => [
    `CREATE TABLE oncehook_arrivals (source text NOT NULL, subject text NOT NULL, slot ${bigint} NOT NULL,
      count ${bigint} NOT NULL, PRIMARY KEY (source, subject, slot))`,
    `CREATE TABLE oncehook_arrival_subjects (source text NOT NULL, subject text NOT NULL,
      first_slot ${bigint} NOT NULL, last_slot ${bigint} NOT NULL, PRIMARY KEY (source, subject))`,
    // `number` grows with each change: of two processes that evaluate the same state, one changes it.
    `CREATE TABLE oncehook_alerts (
      kind text NOT NULL,
      source text NOT NULL,
      subject text NOT NULL,
      is_open smallint NOT NULL,
      number integer NOT NULL,
      since ${time} NOT NULL,
      told integer NOT NULL,
      told_at ${time} NOT NULL,
      PRIMARY KEY (kind, source, subject)
    )`,
    `CREATE TABLE oncehook_alert_turns (name text PRIMARY KEY, next_at_ms ${bigint} NOT NULL)`,
  ],
};

/** Who is signed in on the admin listener, and who has changed what there. */
export const access: SchemaStep = {
  number: 4,
  name: "access",
  statements: ({ id, time }) => [
    `CREATE TABLE oncehook_sessions (
      id_sha256 text PRIMARY KEY,
      who text NOT NULL,
      role text NOT NULL CHECK (role IN ('viewer', 'operator')),
      begun_with text NOT NULL,
      begun_at ${time} NOT NULL,
      expires_at ${time} NOT NULL
    )`,
    "CREATE INDEX oncehook_sessions_expires ON oncehook_sessions (expires_at)",
    `CREATE TABLE oncehook_audit (
      id ${id},
      at ${time} NOT NULL,
      who text,
      role text CHECK (role IN ('viewer', 'operator')),
      remote_address text NOT NULL,
      action text NOT NULL,
      subject text,
      detail text,
      outcome text CHECK (outcome IN ('done', 'refused', 'failed'))
    )`,
    "CREATE INDEX oncehook_audit_action ON oncehook_audit (action, id)",
    "CREATE INDEX oncehook_audit_who ON oncehook_audit (who, id)",
  ],
};

/**
 * What the overview shows, counted by time: `slot` is when a period of `step_seconds` began, in seconds since the epoch, and
 * `bucket` how long it took (`domain/rollup.ts`). And an index over the rows of the callback log that are neither successes nor
 * duplicates: they are what is looked for, and few, so that no fresh callback writes to it (decision 0017).
 */
export const rollups: SchemaStep = {
  number: 5,
  name: "rollups",
  statements: ({ bigint }) => [
    `CREATE TABLE oncehook_rollups (
      step_seconds integer NOT NULL,
      slot ${bigint} NOT NULL,
      source text NOT NULL,
      outcome text NOT NULL,
      bucket smallint NOT NULL,
      count ${bigint} NOT NULL,
      PRIMARY KEY (step_seconds, slot, source, outcome, bucket)
    )`,
    `CREATE INDEX oncehook_callbacks_rare ON oncehook_callbacks (outcome, id)
      WHERE outcome <> 'success' AND outcome <> 'already_processed'`,
  ],
};

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

/** Why a callback was not authentic, as JSON; null for all others, so that their inserts do not name it. */
export const diagnosis: SchemaStep = {
  number: 7,
  name: "diagnosis",
  statements: () => ["ALTER TABLE oncehook_callbacks ADD COLUMN diagnosis text"],
};

/**
 * When rows of the callback log were stored that had waited long for it, and when the oldest of them came: a search by time is
 * led astray by them unless it knows (decision 0031). One row for each group of them, so that there are few.
 */
export const lateCallbacks: SchemaStep = {
  number: 8,
  name: "late-callbacks",
  statements: ({ time }) => [
    `CREATE TABLE oncehook_late_callbacks (
      oldest ${time} PRIMARY KEY,
      stored_at ${time} NOT NULL
    )`,
  ],
};

/**
 * How many bytes the rows of strangers take, so that the oldest ones go where they are too many: found by an index that holds
 * no other rows. `left_out` is JSON, of a row that stands for callbacks without rows of their own.
 */
export const refusedBytes: SchemaStep = {
  number: 9,
  name: "refused-bytes",
  statements: ({ bigint }) => [
    `ALTER TABLE oncehook_callbacks ADD COLUMN refused_bytes ${bigint}`,
    "ALTER TABLE oncehook_callbacks ADD COLUMN left_out text",
    `CREATE INDEX oncehook_callbacks_refused ON oncehook_callbacks (id, refused_bytes)
      WHERE refused_bytes IS NOT NULL`,
  ],
};

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

/**
 * Which of the handlers' own migrations were applied, by handler and name: two handlers may name one alike. Those of
 * before have no handler, until a start finds the one whose they are. SQLite cannot change a primary key.
 */
export const handlerMigrations: SchemaStep = {
  number: 13,
  name: "migrations-of-handlers",
  statements: ({ time }) => [
    `CREATE TABLE oncehook_handler_migrations (
      handler text NOT NULL,
      name text NOT NULL,
      applied_at ${time} NOT NULL,
      PRIMARY KEY (handler, name)
    )`,
    `INSERT INTO oncehook_handler_migrations (handler, name, applied_at)
      SELECT '', name, applied_at FROM oncehook_own_migrations`,
    "DROP TABLE oncehook_own_migrations",
    "ALTER TABLE oncehook_handler_migrations RENAME TO oncehook_own_migrations",
  ],
};

/**
 * What the alert on silence is computed from: one row for each event type and day (UTC, in days since the epoch). The alert on
 * signatures reads the rollups. `since_ms` is when the evaluations began that have not been interrupted since.
 */
export const plainAlerts: SchemaStep = {
  number: 17,
  name: "plain-alerts",
  statements: ({ bigint }) => [
    "DROP TABLE oncehook_arrivals",
    "DROP TABLE oncehook_arrival_subjects",
    `CREATE TABLE oncehook_arrival_days (
      source text NOT NULL,
      event_type text NOT NULL,
      day ${bigint} NOT NULL,
      count ${bigint} NOT NULL,
      longest_gap_ms ${bigint} NOT NULL,
      last_ms ${bigint} NOT NULL,
      PRIMARY KEY (source, event_type, day)
    )`,
    "DROP TABLE oncehook_alert_turns",
    `CREATE TABLE oncehook_alert_turns (
      name text PRIMARY KEY,
      next_at_ms ${bigint} NOT NULL,
      since_ms ${bigint} NOT NULL
    )`,
    "ALTER TABLE oncehook_failures RENAME COLUMN unclean_ends TO crashes",
  ],
};
