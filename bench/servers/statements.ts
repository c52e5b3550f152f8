/** How a value is written: `?`, `$1`, or an expression of pgbench's. */
type Values<Column extends string> = Record<Column, string>;

const RECORD = [
  "source",
  "event_id",
  "event_type",
  "version",
  "status",
  "body_sha256",
  "result",
  "created_at",
  "processed_at",
] as const;
const ORDER = ["order_id", "status", "amount", "event_id", "updated_at"] as const;
const NOTIFICATION = ["source", "event_id", "position", "topic", "payload", "created_at"] as const;
const CALLBACK = [
  "request_id",
  "received_at",
  "source",
  "event_id",
  "event_type",
  "method",
  "url",
  "remote_address",
  "request_headers",
  "request_body",
  "outcome",
  "response_status",
  "response_body",
  "processing_ms",
  "with_record",
] as const;

export const COLUMNS = { record: RECORD, order: ORDER, notification: NOTIFICATION, callback: CALLBACK };

/** The four writes of a payment, the same for every contender that brings its own statements. */
export const insertRecord = (values: Values<(typeof RECORD)[number]>): string =>
  `${insert("records", RECORD, values)} ON CONFLICT (event_id, source) DO NOTHING`;

export const upsertOrder = (values: Values<(typeof ORDER)[number]>): string =>
  `${insert("orders", ORDER, values)} ON CONFLICT (order_id) DO UPDATE SET status = excluded.status,
    amount = excluded.amount, event_id = excluded.event_id, updated_at = excluded.updated_at`;

export const insertNotification = (values: Values<(typeof NOTIFICATION)[number]>): string =>
  insert("notifications", NOTIFICATION, values);

export const insertCallback = (values: Values<(typeof CALLBACK)[number]>): string =>
  insert("callbacks", CALLBACK, values);

function insert<Column extends string>(table: string, columns: readonly Column[], values: Values<Column>): string {
  return `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map((column) => values[column]).join(", ")})`;
}

/** Positional parameters for all columns: `?` of SQLite or `$1` … of PostgreSQL. */
export function parameters<Column extends string>(columns: readonly Column[], style: "?" | "$"): Values<Column> {
  const entries = columns.map((column, index) => [column, style === "?" ? "?" : `$${index + 1}`]);
  return Object.fromEntries(entries) as Values<Column>;
}
