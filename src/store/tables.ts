import type { Generated } from "kysely";

/** Times come back as text from SQLite and as `Date` from PostgreSQL; both take ISO 8601 text. */
export type StoredTime = string | Date;
/** PostgreSQL's driver returns 64-bit integers as text. */
export type StoredInteger = number | string;

export interface RecordRow {
  id: Generated<StoredInteger>;
  source: string;
  event_id: string;
  event_type: string;
  version: string;
  status: "processing" | "completed";
  body_sha256: string;
  result: string | null;
  created_at: StoredTime;
  processed_at: StoredTime | null;
  /** The log row that was committed with it, as long as it is kept. */
  callback_id: StoredInteger | null;
}

export interface CallbackRow {
  id: Generated<StoredInteger>;
  request_id: string;
  received_at: StoredTime;
  source: string | null;
  event_id: string | null;
  event_type: string | null;
  method: string;
  url: string;
  remote_address: string;
  request_headers: string;
  request_body: string;
  outcome: string;
  response_status: number;
  response_body: string;
  processing_ms: number;
  error: string | null;
  /** 1 where an event's record names this row, and the index by event does not. */
  with_record: 0 | 1;
  /** JSON; of a callback that was not authentic, where that was looked into. */
  diagnosis: string | null;
  /** About what the row takes, where it belongs to no event; null for all others. */
  refused_bytes: StoredInteger | null;
  /** JSON; of a row that stands for callbacks without rows of their own. */
  left_out: string | null;
}

export interface FailureRow {
  id: Generated<StoredInteger>;
  source: string;
  event_id: string;
  event_type: string;
  version: string;
  state: "waiting" | "exhausted";
  attempts: number;
  retries_done: number;
  code: string;
  error: string;
  encrypted_body: Uint8Array;
  body_sha256: string;
  first_failed_at: StoredTime;
  last_failed_at: StoredTime;
  next_attempt_at: StoredTime | null;
  lease_owner: string | null;
  leased_until: StoredTime | null;
  /** The bulk replay that tried it last. */
  bulk_replay_id: StoredInteger | null;
  /** The purpose of the lease; null without one. */
  lease_kind: "retry" | "replay" | "bulk" | "removal" | null;
  /** 1 where its process runs no other failure meanwhile. */
  lease_alone: Generated<0 | 1>;
  lease_bulk_id: StoredInteger | null;
  leased_at: StoredTime | null;
  /** How many processes have ended during its attempts since the last completed one. */
  crashes: Generated<number>;
}

export interface AttemptRow {
  id: Generated<StoredInteger>;
  source: string;
  event_id: string;
  started_at: StoredTime;
  triggered_by: "retry" | "replay" | "bulk";
  outcome: string;
  error: string | null;
  duration_ms: number;
}

export interface BulkReplayRow {
  id: Generated<StoredInteger>;
  /** JSON. */
  filter: string;
  per_second: number;
  created_by: string;
  state: "running" | "paused" | "cancelled" | "done";
  total: StoredInteger;
  succeeded: StoredInteger;
  already_handled: StoredInteger;
  failed: StoredInteger;
  after_id: StoredInteger;
  up_to_id: StoredInteger;
  started_at: StoredTime;
  ended_at: StoredTime | null;
  lease_owner: string | null;
  leased_until: StoredTime | null;
}

export interface PreparationRow {
  source: string;
  event_id: string;
  lease_owner: string | null;
  leased_until: StoredTime | null;
  encrypted_result: Uint8Array | null;
  created_at: StoredTime;
}

export interface NotificationRow {
  id: Generated<StoredInteger>;
  source: string;
  event_id: string;
  /** From 1: which of its event's notifications it is. 0: it is an alert, and of no event. */
  position: number;
  topic: string;
  payload: string;
  created_at: StoredTime;
  /** When its deliveries were made; null until then. */
  fanned_out_at: StoredTime | null;
}

export interface DeliveryRow {
  id: Generated<StoredInteger>;
  notification_id: StoredInteger;
  channel: string;
  state: "waiting" | "delivered" | "dead";
  attempts: number;
  error: string | null;
  next_attempt_at: StoredTime | null;
  delivered_at: StoredTime | null;
  lease_owner: string | null;
  leased_until: StoredTime | null;
  /** 1 where no other delivery of a process that ended was tried beside it. */
  lease_alone: Generated<0 | 1>;
  /** When `next_attempt_at` was set. */
  scheduled_at: StoredTime | null;
}

export interface UserTokenRow {
  user_id: string;
  encrypted_tokens: Uint8Array;
  expires_at: StoredTime | null;
  /** When they should be refreshed; null where they cannot be. */
  refresh_at: StoredTime | null;
  error: string | null;
  lease_owner: string | null;
  leased_until: StoredTime | null;
  updated_at: StoredTime;
}

export interface CapturedRequestRow {
  id: Generated<StoredInteger>;
  request_id: string;
  received_at: StoredTime;
  /** Of the encrypted request. */
  bytes: number;
  encrypted_request: Uint8Array;
}

export interface AlertRow {
  kind: string;
  source: string;
  subject: string;
  is_open: 0 | 1;
  number: number;
  since: StoredTime;
  notified_count: number;
  notified_at: StoredTime;
}

export interface SessionRow {
  id_sha256: string;
  actor: string;
  role: "viewer" | "operator";
  credential_fingerprint: string;
  started_at: StoredTime;
  expires_at: StoredTime;
}

export interface AuditRow {
  id: Generated<StoredInteger>;
  at: StoredTime;
  actor: string | null;
  role: SessionRow["role"] | null;
  remote_address: string;
  action: string;
  target: string | null;
  /** JSON. */
  detail: string | null;
  outcome: "done" | "refused" | "failed" | null;
}

export interface RollupRow {
  step_seconds: number;
  slot: StoredInteger;
  source: string;
  outcome: string;
  bucket: number;
  count: StoredInteger;
}

export interface Tables {
  oncehook_settings: { name: string; value: string };
  oncehook_records: RecordRow;
  oncehook_callbacks: CallbackRow;
  oncehook_late_callbacks: { oldest: StoredTime; stored_at: StoredTime };
  oncehook_failures: FailureRow;
  oncehook_attempts: AttemptRow;
  oncehook_bulk_replays: BulkReplayRow;
  oncehook_preparations: PreparationRow;
  oncehook_notifications: NotificationRow;
  oncehook_deliveries: DeliveryRow;
  oncehook_redirect_states: { state_sha256: string; expires_at: StoredTime; created_at: StoredTime };
  oncehook_spent_states: { state_sha256: string; expires_at: StoredTime };
  oncehook_user_tokens: UserTokenRow;
  oncehook_credential_uses: {
    method: string;
    fingerprint: string;
    previous_since: StoredTime | null;
    last_used_at: StoredTime | null;
  };
  oncehook_captured_requests: CapturedRequestRow;
  oncehook_arrival_days: {
    source: string;
    event_type: string;
    day: StoredInteger;
    count: StoredInteger;
    longest_gap_ms: StoredInteger;
    last_ms: StoredInteger;
  };
  oncehook_rollups: RollupRow;
  oncehook_alerts: AlertRow;
  oncehook_alert_turns: { name: string; next_at_ms: StoredInteger; since_ms: StoredInteger };
  oncehook_sessions: SessionRow;
  oncehook_audit: AuditRow;
  oncehook_rate_counters: { key: string; points: number; reset_at_ms: StoredInteger };
}
