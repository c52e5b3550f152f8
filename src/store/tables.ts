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

export interface NotificationRow {
  id: Generated<StoredInteger>;
  source: string;
  event_id: string;
  /** From 1: which of its event's notifications it is. 0: it is an alert, and of no event. */
  position: number;
  topic: string;
  payload: string;
  created_at: StoredTime;
  /** When its deliveries were made, or it was delivered at once; null until then. */
  fanned_out_at: StoredTime | null;
  /** The only channel, where it was delivered at once: it has no deliveries then. */
  delivered_to: Generated<string | null>;
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

/** The tables that are read and written through the query builder. */
export interface Tables {
  oncehook_records: RecordRow;
  oncehook_callbacks: CallbackRow;
  oncehook_late_callbacks: { oldest: StoredTime; stored_at: StoredTime };
  oncehook_notifications: NotificationRow;
  oncehook_deliveries: DeliveryRow;
  oncehook_settings: { name: string; value: string };
}

export type TableName = `oncehook_${string}`;
