import { initialSchema, type SchemaStep } from "./schema.ts";

/** All steps, in their order. Databases of earlier numbers were made before the first release. */
export const STEPS: readonly SchemaStep[] = [
  initialSchema,
  // Events that a handler orders lock the row of their key while their transaction lasts. The row tells how new they were.
  // Handlers without an order write no row. `latest_at` is the platform's time, in seconds since the epoch as its envelope has
  // it. A sequence is a text that sorts. Rows that no event has touched for long are deleted by their time.
  {
    number: 21,
    name: "order-keys",
    text: `
CREATE TABLE oncehook_order_keys (
  source text NOT NULL, order_key {eventId} NOT NULL, latest_at bigint NOT NULL, latest_sequence {eventId},
  touched_at {time} NOT NULL,
  PRIMARY KEY (order_key, source)
);
CREATE INDEX oncehook_order_keys_touched ON oncehook_order_keys (touched_at);
`,
  },
  // Sources whose tenants have secrets of their own: the last acceptance of each tenant's current and previous secret.
  // Rows that no callback has touched for long are deleted by their time.
  {
    number: 22,
    name: "tenant-secret-uses",
    text: `
CREATE TABLE oncehook_tenant_secret_uses (
  id {id},
  source text NOT NULL, tenant {eventId} NOT NULL,
  current_used_at {time}, previous_used_at {time}, last_used_at {time} NOT NULL,
  UNIQUE (source, tenant)
);
CREATE INDEX oncehook_tenant_secret_uses_listed ON oncehook_tenant_secret_uses (source, id);
CREATE INDEX oncehook_tenant_secret_uses_last ON oncehook_tenant_secret_uses (last_used_at);
`,
  },
  // The tenant that each secret has verified first, so that no process takes it for another one. Rows that no process has seen
  // for long are deleted by their time.
  {
    number: 23,
    name: "tenant-secrets",
    text: `
CREATE TABLE oncehook_tenant_secrets (
  source text NOT NULL, fingerprint text NOT NULL, tenant {eventId} NOT NULL, seen_at {time} NOT NULL,
  PRIMARY KEY (source, fingerprint)
);
CREATE INDEX oncehook_tenant_secrets_seen ON oncehook_tenant_secrets (seen_at);
`,
  },
  // An event has one key (decision 0076): the claims of signed bytes were a second one.
  { number: 24, name: "one-key", text: "DROP TABLE oncehook_signed_bytes;" },
  // Rejected events. SQLite changes no condition of a column, so another column takes its place. Events that were
  // rejected before were listed as exhausted.
  {
    number: 25,
    name: "rejected-failures",
    text: `
DROP INDEX oncehook_failures_due;
DROP INDEX oncehook_failures_listed;
ALTER TABLE oncehook_failures ADD COLUMN new_state text NOT NULL DEFAULT 'exhausted'
  CHECK (new_state IN ('accepted', 'waiting', 'exhausted', 'rejected'));
UPDATE oncehook_failures SET new_state = CASE
  WHEN state = 'exhausted' AND code IN ('rejected', 'event_invalid', 'event_too_old') THEN 'rejected' ELSE state END;
ALTER TABLE oncehook_failures DROP COLUMN state;
ALTER TABLE oncehook_failures RENAME COLUMN new_state TO state;
CREATE INDEX oncehook_failures_due ON oncehook_failures (state, next_attempt_at);
CREATE INDEX oncehook_failures_listed ON oncehook_failures (state, id, event_type, code, source);
`,
  },
  // The stored events that a backfill has handed to a handler, by the key under which that runs them.
  {
    number: 27,
    name: "backfilled",
    text: `CREATE TABLE oncehook_backfilled (
  source text NOT NULL, event_id {eventId} NOT NULL, taken_at {time} NOT NULL, PRIMARY KEY (event_id, source)
);`,
  },
  // Waiting events by source and tenant, so that none waits behind those of another one. Also by their `orderBy`, since
  // of each key only the first may run. An event without a key has an empty one.
  {
    number: 28,
    name: "fair-leases",
    text: `
ALTER TABLE oncehook_failures ADD COLUMN order_key {eventId} NOT NULL DEFAULT '';
CREATE INDEX oncehook_failures_by_source ON oncehook_failures (state, source, next_attempt_at);
CREATE INDEX oncehook_failures_ordered ON oncehook_failures (source, order_key, state, next_attempt_at, id)
  WHERE order_key <> '';
`,
  },
  // Events as they came. A row has the events of a group, or one event that was stored before it was handled. The former are
  // found by the id of their log entry, the latter by its key (decision 0108).
  {
    number: 29,
    name: "originals",
    text: `
CREATE TABLE oncehook_originals (
  id {id},
  keep_until {time} NOT NULL, newest_at {time} NOT NULL,
  first_callback_id bigint, last_callback_id bigint, source text, event_id {eventId},
  encrypted_block {bytes} NOT NULL
);
CREATE INDEX oncehook_originals_kept ON oncehook_originals (keep_until);
CREATE INDEX oncehook_originals_callbacks ON oncehook_originals (last_callback_id, first_callback_id)
  WHERE last_callback_id IS NOT NULL;
CREATE UNIQUE INDEX oncehook_originals_event ON oncehook_originals (event_id, source) WHERE event_id IS NOT NULL;
`,
  },
  // The values of the callback log in blocks (decision 0109). The rows of a segment are those from its first to its last id.
  {
    number: 30,
    name: "value-index",
    text: `
CREATE TABLE oncehook_value_segments (
  from_id bigint PRIMARY KEY, to_id bigint NOT NULL,
  from_time {time} NOT NULL, to_time {time} NOT NULL, row_count integer NOT NULL, common text NOT NULL
);
CREATE TABLE oncehook_value_blocks (
  segment bigint NOT NULL, first_value {eventId} NOT NULL, block {bytes} NOT NULL,
  PRIMARY KEY (segment, first_value)
);
`,
  },
  // The problem that a failure or a failed delivery has: an id of its cause. Rows of before get theirs when problems are
  // listed. The index of failures holds what a list of problems counts. States are stored for problems that were seen open.
  {
    number: 31,
    name: "problems",
    text: `
ALTER TABLE oncehook_failures ADD COLUMN problem_id text NOT NULL DEFAULT '';
CREATE INDEX oncehook_failures_by_problem ON oncehook_failures (problem_id, id, state, first_failed_at, last_failed_at)
  WHERE problem_id <> '';
CREATE INDEX oncehook_failures_without_problem ON oncehook_failures (id) WHERE problem_id = '' AND state <> 'accepted';
CREATE INDEX oncehook_failures_by_bulk_replay ON oncehook_failures (bulk_replay_id, id)
  WHERE bulk_replay_id IS NOT NULL;
ALTER TABLE oncehook_deliveries ADD COLUMN problem_id text NOT NULL DEFAULT '';
CREATE INDEX oncehook_deliveries_by_problem ON oncehook_deliveries (problem_id, id, scheduled_at)
  WHERE problem_id <> '';
CREATE INDEX oncehook_deliveries_without_problem ON oncehook_deliveries (id) WHERE state = 'dead' AND problem_id = '';
CREATE TABLE oncehook_problem_states (
  id text PRIMARY KEY, kind text NOT NULL, source text NOT NULL, event_type text, code text NOT NULL,
  title text NOT NULL, first_seen {time} NOT NULL, last_seen {time} NOT NULL, reopened integer NOT NULL DEFAULT 0,
  resolved_at {time}, muted_until {time}, muted_by text, mute_reason text
);
`,
  },
  // An alert that an operator has muted sends no notification until then. `notified_open` is whether the last notification
  // said that it is open: an end during a mute is reported afterwards.
  {
    number: 33,
    name: "muted-alerts",
    text: `
ALTER TABLE oncehook_alerts ADD COLUMN muted_until {time};
ALTER TABLE oncehook_alerts ADD COLUMN muted_by text;
ALTER TABLE oncehook_alerts ADD COLUMN mute_reason text;
ALTER TABLE oncehook_alerts ADD COLUMN notified_open smallint NOT NULL DEFAULT 0;
UPDATE oncehook_alerts SET notified_open = is_open;
`,
  },
  // Handled events that an operator ran again: the earlier result of each, and why (decision 0114). Its row commits with the new
  // result: a replay that is killed and goes on runs no event twice. A notification of it names the row.
  {
    number: 34,
    name: "event-replays",
    text: `
CREATE TABLE oncehook_event_replays (
  id {id},
  source text NOT NULL, event_id {eventId} NOT NULL, replay text NOT NULL, replayed_at {time} NOT NULL,
  actor text NOT NULL, reason text NOT NULL,
  earlier_result text NOT NULL, earlier_processed_at {time} NOT NULL,
  UNIQUE (event_id, source, replay)
);
CREATE INDEX oncehook_event_replays_of ON oncehook_event_replays (replay);
ALTER TABLE oncehook_notifications ADD COLUMN event_replay_id bigint;
ALTER TABLE oncehook_bulk_replays ADD COLUMN scope text NOT NULL DEFAULT 'failures';
ALTER TABLE oncehook_bulk_replays ADD COLUMN reason text;
ALTER TABLE oncehook_bulk_replays ADD COLUMN skipped bigint NOT NULL DEFAULT 0;
ALTER TABLE oncehook_bulk_replays ADD COLUMN at_work text;
CREATE TABLE oncehook_unreplayed_events (
  id {id},
  bulk_replay_id bigint NOT NULL, source text NOT NULL, event_id {eventId} NOT NULL, event_type text NOT NULL,
  at {time} NOT NULL, kind text NOT NULL CHECK (kind IN ('failed', 'skipped')), code text NOT NULL, error text NOT NULL,
  UNIQUE (bulk_replay_id, event_id, source)
);
CREATE INDEX oncehook_unreplayed_events_of ON oncehook_unreplayed_events (event_id);
`,
  },
  // The history of a handler's types on its way to it (decision 0115). `position` and `counts` are JSON.
  {
    number: 35,
    name: "backfills",
    text: `
CREATE TABLE oncehook_backfills (
  id {id},
  handler text NOT NULL, event_type text, since {time} NOT NULL, includes_former smallint NOT NULL,
  per_second integer NOT NULL, created_by text NOT NULL,
  state text NOT NULL CHECK (state IN ('running', 'paused', 'cancelled', 'done')),
  position text NOT NULL, counts text NOT NULL,
  due_at {time} NOT NULL, lease_owner text, leased_until {time}, started_at {time} NOT NULL, ended_at {time}
);
CREATE INDEX oncehook_backfills_running ON oncehook_backfills (id) WHERE state = 'running';
`,
  },
  // No index of originals is written on the path of an event. Rows are found by their ids until they are merged.
  {
    number: 36,
    name: "merged-originals",
    text: `
ALTER TABLE oncehook_originals ADD COLUMN is_merged smallint NOT NULL DEFAULT 1;
DROP INDEX oncehook_originals_kept;
DROP INDEX oncehook_originals_callbacks;
CREATE INDEX oncehook_originals_kept ON oncehook_originals (keep_until) WHERE is_merged = 1;
CREATE INDEX oncehook_originals_callbacks ON oncehook_originals (last_callback_id, first_callback_id)
  WHERE is_merged = 1 AND last_callback_id IS NOT NULL;
`,
  },
  // The statements of handlers, where RECORD_STATEMENTS is on (decision 0111).
  {
    number: 37,
    name: "recorded-runs",
    text: `
CREATE TABLE oncehook_recorded_runs (
  id {id},
  source text NOT NULL, event_id {eventId} NOT NULL, ended_at {time} NOT NULL,
  triggered_by text NOT NULL, outcome text NOT NULL, statements text NOT NULL
);
CREATE INDEX oncehook_recorded_runs_event ON oncehook_recorded_runs (event_id, source, id);
CREATE INDEX oncehook_recorded_runs_ended ON oncehook_recorded_runs (ended_at);
`,
  },
  // No quantile is above the highest latency of its bucket (decision 0120). Counts of earlier versions know none.
  {
    number: 38,
    name: "highest-latencies",
    text: `
ALTER TABLE oncehook_rollups ADD COLUMN highest_ms double precision;
`,
  },
  // When the last callback of a count came (decision 0126). Counts of earlier versions know only their period.
  {
    number: 39,
    name: "last-callbacks",
    text: `
ALTER TABLE oncehook_rollups ADD COLUMN last_at {time};
`,
  },
  // The last message of an alert, to say whether it reached its channels. Those of earlier versions are not known.
  {
    number: 40,
    name: "notifications-of-alerts",
    text: `
ALTER TABLE oncehook_alerts ADD COLUMN notification_id bigint;
`,
  },
];
