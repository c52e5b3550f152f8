import pg from "pg";
import type { CallbackLogEntry, EventKey } from "../../../domain/index.ts";
import {
  type NewRecord,
  RECORD_COLUMNS,
  RECORD_FIELDS,
  type RecordRow,
  type StoredRecord,
  toRecord,
} from "../../areas/records.ts";
import { CALLBACK_COLUMNS, callbackValues } from "../../callback-columns.ts";
import type { Completion } from "../../once.ts";
import type { WireStatement, WireValue } from "../wire/message-writer.ts";
import { prepared } from "../wire/prepared-names.ts";
import type { StatementResult } from "../wire/statement-batch.ts";

export interface QueuedNotification {
  readonly topic: string;
  /** JSON. */
  readonly payload: string;
  /** ISO 8601. */
  readonly at: string;
}

/** ISO 8601 as the domain spells it, whatever the server's settings say about dates. */
const isoTime = (column: string) =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS ${column}`;

// A conflict with a transaction that is still open waits for its end: afterwards the row is there, or ours.
const INSERT_RECORD = prepared(
  `INSERT INTO oncehook_records (source, event_id, event_type, version, status, body_sha256, created_at)
    VALUES ($1, $2, $3, $4, 'processing', $5, $6) ON CONFLICT (event_id, source) DO NOTHING`,
);
const DELETE_RECORD = prepared(
  "DELETE FROM oncehook_records WHERE event_id = $1 AND source = $2 AND status = 'processing'",
);
/** In no particular order. With the LIMIT its plan, which is kept, uses the index: see `rowList`. */
const SELECT_RECORDS = prepared(
  `SELECT ${RECORD_COLUMNS.map((name) => (name.endsWith("_at") ? isoTime(name) : name)).join(", ")}
    FROM (SELECT * FROM unnest($1::text[], $2::text[]) LIMIT cardinality($1::text[])) AS k(event_id, source)
    JOIN oncehook_records USING (event_id, source)`,
);
const INSERT_NOTIFICATION = prepared(
  `INSERT INTO oncehook_notifications (source, event_id, position, topic, payload, created_at)
    VALUES ($1, $2, $3, $4, $5, $6)`,
);

/** The parts of a completion; one statement holds those that an event has, so that it costs one execution. */
const COMPLETE = "UPDATE oncehook_records SET status = 'completed', result = $1, processed_at = $2";
/** The record that this very transaction inserted; one that was committed or undone meanwhile is another, or none. */
const OF_EVENT = `WHERE event_id = $3 AND source = $4 AND status = 'processing'
      AND xmin = pg_current_xact_id()::xid`;
const NOT_ITS_TRANSACTION = "the record is not of this transaction";
/** Anything but one row is an error, behind which the server runs no COMMIT. */
const EXACTLY_ONE = `SELECT (CASE count(*) WHEN 1 THEN '1' ELSE '${NOT_ITS_TRANSACTION}' END)::int FROM completed`;
const DELETE_LEFTOVERS = `failure AS (DELETE FROM oncehook_failures WHERE event_id = $3 AND source = $4),
    preparation AS (DELETE FROM oncehook_preparations WHERE event_id = $3 AND source = $4)`;
const LOGGED = ", callback_id = (SELECT id FROM callback)";
const FIRST_NOTIFICATION = `notification AS (
      INSERT INTO oncehook_notifications (source, event_id, position, topic, payload, created_at)
      VALUES ($4, $3, 1, $5, $6, $7))`;
const insertCallback = (from: number) => `callback AS (
      INSERT INTO oncehook_callbacks (${CALLBACK_COLUMNS.join(", ")})
      VALUES (${CALLBACK_COLUMNS.map((_, index) => `$${from + index}`).join(", ")}) RETURNING id)`;

function completionStatement(parts: readonly string[], more = ""): WireStatement {
  const completed = `completed AS (${COMPLETE}${more} ${OF_EVENT} RETURNING 1)`;
  return prepared(`WITH ${[DELETE_LEFTOVERS, ...parts, completed].join(",\n    ")} ${EXACTLY_ONE}`);
}
const COMPLETIONS = {
  plain: completionStatement([]),
  notified: completionStatement([FIRST_NOTIFICATION]),
  logged: completionStatement([insertCallback(5)], LOGGED),
  notifiedAndLogged: completionStatement([FIRST_NOTIFICATION, insertCallback(8)], LOGGED),
} as const;

/** Reserves the event: it answers one row, or none where a record is there. */
export function insertRecord(record: NewRecord, now: Date): WireStatement {
  const { source, eventId, eventType, version, bodySha256 } = record;
  return { ...INSERT_RECORD, values: [source, eventId, eventType, version, bodySha256, now.toISOString()] };
}

/** Gives an event back that its own transaction has reserved. */
export function deleteRecord({ eventId, source }: EventKey): WireStatement {
  return { ...DELETE_RECORD, values: [eventId, source] };
}

export function selectRecords(keys: readonly EventKey[]): WireStatement {
  return { ...SELECT_RECORDS, values: keyLists(keys) };
}

function keyLists(keys: readonly EventKey[]): WireValue[] {
  return [keys.map(({ eventId }) => eventId), keys.map(({ source }) => source)];
}

export function toStoredRecords(answer: StatementResult | undefined): StoredRecord[] {
  return (answer?.rows ?? []).map((values) => {
    const row = Object.fromEntries(RECORD_FIELDS.map((name, index) => [name, values[index] ?? null]));
    return toRecord(row as unknown as RecordRow);
  });
}

/** Whether a completion was refused because the handler, or something it called, had ended the transaction. */
export function isForeignTransactionError(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.message.includes(NOT_ITS_TRANSACTION);
}

export function insertNotification(
  { source, eventId }: EventKey,
  position: number,
  { topic, payload, at }: QueuedNotification,
): WireStatement {
  return { ...INSERT_NOTIFICATION, values: [source, eventId, position, topic, payload, at] };
}

/** Everything that becomes true with an event: its result, its notifications, its row of the callback log. */
export function completionStatements(
  { source, eventId }: EventKey,
  { result, logEntry }: Completion,
  [first, ...more]: readonly QueuedNotification[],
  now: Date,
): WireStatement[] {
  const values: WireValue[] = [JSON.stringify(result), now.toISOString(), eventId, source];
  if (first !== undefined) values.push(first.topic, first.payload, first.at);
  if (logEntry !== undefined) values.push(...callbackValues(logEntry, 1));
  const [plain, logged] =
    first === undefined
      ? [COMPLETIONS.plain, COMPLETIONS.logged]
      : [COMPLETIONS.notified, COMPLETIONS.notifiedAndLogged];
  const others = more.map((one, index) => insertNotification({ source, eventId }, index + 2, one));
  return [{ ...(logEntry === undefined ? plain : logged), values }, ...others];
}

/** The completion of an event whose handler has ended. */
export interface HandlerResult {
  readonly completion: Completion;
  readonly notifications: readonly QueuedNotification[];
}

/** An event of an optimistic group, whose record is inserted when it is complete. */
export interface CompletedEvent extends HandlerResult {
  readonly record: NewRecord;
}

/** The columns of a log row that are no texts. */
export const CALLBACK_COLUMN_TYPES: Readonly<Record<string, string>> = {
  received_at: "timestamptz",
  response_status: "integer",
  processing_ms: "double precision",
  with_record: "smallint",
  refused_bytes: "bigint",
};
/** Of each event, in this order: what identifies it, and what is known at its end. */
const COMPLETED = ["event_id", "source", "event_type", "version", "body_sha256", "result"] as const;
const INSERTED_RECORD = `INSERT INTO oncehook_records
    (source, event_id, event_type, version, status, body_sha256, result, created_at, processed_at, callback_id)`;
/** A record that is there makes it fail, behind which the server runs no COMMIT. */
const INSERT_COMPLETED = prepared(
  `${INSERTED_RECORD} SELECT r.source, r.event_id, r.event_type, r.version, 'completed', r.body_sha256, r.result,
      $7::timestamptz, $8::timestamptz, NULL FROM unnest(${arrays(COMPLETED, 1)}) AS r(${COMPLETED.join(", ")})`,
);
const INSERT_LOGGED = prepared(
  `WITH r AS MATERIALIZED (
      SELECT *, nextval(pg_get_serial_sequence('oncehook_callbacks', 'id')) AS callback_id
      FROM unnest(${arrays(COMPLETED, 1)}, ${arrays(CALLBACK_COLUMNS, 9)})
        AS r(${[...COMPLETED.map((name) => `r_${name}`), ...CALLBACK_COLUMNS].join(", ")})),
    callback AS (
      INSERT INTO oncehook_callbacks (id, ${CALLBACK_COLUMNS.join(", ")}) OVERRIDING SYSTEM VALUE
      SELECT callback_id, ${CALLBACK_COLUMNS.join(", ")} FROM r)
    ${INSERTED_RECORD} SELECT r_source, r_event_id, r_event_type, r_version, 'completed', r_body_sha256, r_result,
      $7::timestamptz, $8::timestamptz, callback_id FROM r`,
);
const NOTIFICATION_COLUMNS = ["source", "event_id", "position", "topic", "payload", "created_at"] as const;
const NOTIFICATION_TYPES = { position: "integer", created_at: "timestamptz" };
const INSERT_NOTIFICATIONS = prepared(
  `INSERT INTO oncehook_notifications (${NOTIFICATION_COLUMNS.join(", ")})
    SELECT * FROM unnest(${arrays(NOTIFICATION_COLUMNS, 1, NOTIFICATION_TYPES)})`,
);
const deleteOf = (table: string) =>
  // With the LIMIT its plan, which is kept, uses the index: see `rowList`.
  prepared(`DELETE FROM oncehook_${table} t
    USING (SELECT * FROM unnest($1::text[], $2::text[]) LIMIT cardinality($1::text[])) AS k(event_id, source)
    WHERE t.event_id = k.event_id AND t.source = k.source`);
const DELETE_FAILURES = deleteOf("failures");
const DELETE_PREPARATIONS = deleteOf("preparations");

function arrays(
  columns: readonly string[],
  from: number,
  types: Readonly<Record<string, string | undefined>> = CALLBACK_COLUMN_TYPES,
): string {
  return columns.map((name, index) => `$${from + index}::${types[name] ?? "text"}[]`).join(", ");
}

/** Everything that becomes true with the events of an optimistic group, each kind of row in one statement. */
export function completedStatements(events: readonly CompletedEvent[], startedAt: Date, endedAt: Date) {
  const times = [startedAt.toISOString(), endedAt.toISOString()];
  const statements: WireStatement[] = [];
  const notifications = events.flatMap(({ record: { source, eventId }, notifications }) =>
    notifications.map(({ topic, payload, at }, index) => [source, eventId, index + 1, topic, payload, at]),
  );
  if (notifications.length > 0) {
    const values = transposed(notifications, NOTIFICATION_COLUMNS, NOTIFICATION_TYPES);
    statements.push({ ...INSERT_NOTIFICATIONS, values });
  }
  const logged = events.filter(({ completion }) => completion.logEntry !== undefined);
  if (logged.length > 0) {
    const rows = logged.map(({ completion }) => callbackValues(completion.logEntry as CallbackLogEntry, 1));
    const values = [...recordArrays(logged), ...times, ...transposed(rows, CALLBACK_COLUMNS)];
    statements.push({ ...INSERT_LOGGED, values });
  }
  if (logged.length < events.length) {
    const others = events.filter(({ completion }) => completion.logEntry === undefined);
    statements.push({ ...INSERT_COMPLETED, values: [...recordArrays(others), ...times] });
  }
  const keys = keyLists(events.map(({ record }) => record));
  return [...statements, { ...DELETE_FAILURES, values: keys }, { ...DELETE_PREPARATIONS, values: keys }];
}

function recordArrays(events: readonly CompletedEvent[]): WireValue[] {
  const rows = events.map(({ record, completion: { result } }) => {
    const { eventId, source, eventType, version, bodySha256 } = record;
    return [eventId, source, eventType, version, bodySha256, JSON.stringify(result)];
  });
  return transposed(rows, COMPLETED);
}

/** One array a column: of texts, or the literal of another type, which has nothing to escape (manual, 8.15.2). */
function transposed(
  rows: readonly (readonly (string | number | null)[])[],
  columns: readonly string[],
  types: Readonly<Record<string, string | undefined>> = CALLBACK_COLUMN_TYPES,
): WireValue[] {
  return columns.map((name, column) => {
    const values = rows.map((row) => row[column] ?? null);
    if (types[name] === undefined) return values as (string | null)[];
    return `{${values.map((value) => value ?? "NULL").join(",")}}`;
  });
}
