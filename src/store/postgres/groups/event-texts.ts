import { RECORD_COLUMNS } from "../../areas/records.ts";
import { CALLBACK_COLUMNS } from "../../callback-columns.ts";

/** ISO 8601 as the domain spells it, whatever the server's settings say about dates. */
const isoTime = (column: string) =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS ${column}`;

// A conflict with a transaction that is still open waits for its end: afterwards the row is there, or ours.
const INSERT_RECORD = `INSERT INTO oncehook_records (source, event_id, event_type, version, status, body_sha256, created_at)
    VALUES ($1, $2, $3, $4, 'processing', $5, $6) ON CONFLICT (event_id, source) DO NOTHING`;
const DELETE_RECORD = "DELETE FROM oncehook_records WHERE event_id = $1 AND source = $2 AND status = 'processing'";
/** In no particular order. With the LIMIT its plan, which is kept, uses the index: see `rowList`. */
const SELECT_RECORDS = `SELECT ${RECORD_COLUMNS.map((name) => (name.endsWith("_at") ? isoTime(name) : name)).join(", ")}
    FROM (SELECT * FROM unnest($1::text[], $2::text[]) LIMIT cardinality($1::text[])) AS k(event_id, source)
    JOIN oncehook_records USING (event_id, source)`;
const INSERT_NOTIFICATION = `INSERT INTO oncehook_notifications (source, event_id, position, topic, payload, created_at)
    VALUES ($1, $2, $3, $4, $5, $6)`;

/** The parts of a completion; one statement holds those that an event has, so that it costs one execution. */
const COMPLETE = "UPDATE oncehook_records SET status = 'completed', result = $1, processed_at = $2";
/** The record that this very transaction inserted; one that was committed or undone meanwhile is another, or none. */
const OF_EVENT = `WHERE event_id = $3 AND source = $4 AND status = 'processing'
      AND xmin = pg_current_xact_id()::xid`;
export const NOT_ITS_TRANSACTION = "the record is not of this transaction";
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

function completionText(parts: readonly string[], more = ""): string {
  const completed = `completed AS (${COMPLETE}${more} ${OF_EVENT} RETURNING 1)`;
  return `WITH ${[DELETE_LEFTOVERS, ...parts, completed].join(",\n    ")} ${EXACTLY_ONE}`;
}
const COMPLETIONS = {
  complete: completionText([]),
  completeNotified: completionText([FIRST_NOTIFICATION]),
  completeLogged: completionText([insertCallback(5)], LOGGED),
  completeBoth: completionText([FIRST_NOTIFICATION, insertCallback(8)], LOGGED),
} as const;

/** The columns of a log row that are no texts. */
export const CALLBACK_COLUMN_TYPES: Readonly<Record<string, string>> = {
  received_at: "timestamptz",
  response_status: "integer",
  processing_ms: "double precision",
  with_record: "smallint",
  refused_bytes: "bigint",
};
/** Of each event, in this order: what identifies it, and what is known at its end. */
export const COMPLETED = ["event_id", "source", "event_type", "version", "body_sha256", "result"] as const;
const INSERTED_RECORD = `INSERT INTO oncehook_records
    (source, event_id, event_type, version, status, body_sha256, result, created_at, processed_at, callback_id)`;
/** A record that is there makes it fail, behind which the server runs no COMMIT. */
const INSERT_COMPLETED = `${INSERTED_RECORD} SELECT r.source, r.event_id, r.event_type, r.version, 'completed', r.body_sha256, r.result,
      $7::timestamptz, $8::timestamptz, NULL FROM unnest(${arrays(COMPLETED, 1)}) AS r(${COMPLETED.join(", ")})`;
/** The sequence is looked up once for a statement: that takes ten times as long as its next value. */
const insertLogged = (more = "") => `WITH r AS MATERIALIZED (
      SELECT *, nextval((SELECT pg_get_serial_sequence('oncehook_callbacks', 'id')::regclass)) AS callback_id
      FROM unnest(${arrays(COMPLETED, 1)}, ${arrays(CALLBACK_COLUMNS, 9)})
        AS r(${[...COMPLETED.map((name) => `r_${name}`), ...CALLBACK_COLUMNS].join(", ")})),
    callback AS (
      INSERT INTO oncehook_callbacks (id, ${CALLBACK_COLUMNS.join(", ")}) OVERRIDING SYSTEM VALUE
      SELECT callback_id, ${CALLBACK_COLUMNS.join(", ")} FROM r)${more}
    ${INSERTED_RECORD} SELECT r_source, r_event_id, r_event_type, r_version, 'completed', r_body_sha256, r_result,
      $7::timestamptz, $8::timestamptz, callback_id FROM r`;
const BLOCK_COLUMNS = "is_merged, keep_until, newest_at, encrypted_block, first_callback_id, last_callback_id";
const FIRST_OF_BLOCK = 9 + CALLBACK_COLUMNS.length;
const [KEEP_UNTIL, NEWEST_AT, BLOCK] = [FIRST_OF_BLOCK, FIRST_OF_BLOCK + 1, FIRST_OF_BLOCK + 2];
const WITH_ORIGINALS = `,
    originals AS (INSERT INTO oncehook_originals (${BLOCK_COLUMNS})
      SELECT 0, $${KEEP_UNTIL}::timestamptz, $${NEWEST_AT}::timestamptz, $${BLOCK}::bytea, min(callback_id), max(callback_id) FROM r)`;
/** Behind the completions of its events, which have the ids of their log entries then. */
const INSERT_ORIGINALS = `INSERT INTO oncehook_originals (${BLOCK_COLUMNS})
    SELECT 0, $3::timestamptz, $4::timestamptz, $5::bytea, min(callback_id), max(callback_id)
    FROM (SELECT * FROM unnest($1::text[], $2::text[]) LIMIT cardinality($1::text[])) AS k(event_id, source)
    JOIN oncehook_records USING (event_id, source)`;
export const NOTIFICATION_COLUMNS = ["source", "event_id", "position", "topic", "payload", "created_at"] as const;
export const NOTIFICATION_TYPES = { position: "integer", created_at: "timestamptz" };
const INSERT_NOTIFICATIONS = `INSERT INTO oncehook_notifications (${NOTIFICATION_COLUMNS.join(", ")})
    SELECT * FROM unnest(${arrays(NOTIFICATION_COLUMNS, 1, NOTIFICATION_TYPES)})`;
const deleteOf = (table: string) =>
  // With the LIMIT its plan, which is kept, uses the index: see `rowList`.
  `DELETE FROM ${table} t
    USING (SELECT * FROM unnest($1::text[], $2::text[]) LIMIT cardinality($1::text[])) AS k(event_id, source)
    WHERE t.event_id = k.event_id AND t.source = k.source`;

/** Holds the record of a handled event, and keeps its earlier result. No row: there is no record, or this replay has run it. */
const INSERT_REPLAY = `WITH record AS (SELECT result, processed_at FROM oncehook_records
      WHERE event_id = $1 AND source = $2 AND status = 'completed' FOR UPDATE)
    INSERT INTO oncehook_event_replays
      (event_id, source, replay, replayed_at, actor, reason, earlier_result, earlier_processed_at)
    SELECT $1, $2, $3::text, $4::timestamptz, $5::text, $6::text, result, processed_at FROM record
    ON CONFLICT (event_id, source, replay) DO NOTHING RETURNING id`;
/** The replay's row is of this very transaction: a handler that ended it cannot replace a result. */
const REPLACE_RESULT = `WITH preparation AS (DELETE FROM oncehook_preparations WHERE event_id = $6 AND source = $4),
    completed AS (UPDATE oncehook_records SET result = $1, processed_at = $2
      WHERE event_id = $3 AND source = $4 AND EXISTS (SELECT 1 FROM oncehook_event_replays AS e
        WHERE e.id = $5 AND e.xmin = pg_current_xact_id()::xid) RETURNING 1)
    ${EXACTLY_ONE}`;
const INSERT_REPLAY_NOTIFICATION = `INSERT INTO oncehook_notifications
    (source, event_id, position, topic, payload, created_at, event_replay_id) VALUES ($1, $2, $3, $4, $5, $6, $7)`;

function arrays(
  columns: readonly string[],
  from: number,
  types: Readonly<Record<string, string | undefined>> = CALLBACK_COLUMN_TYPES,
): string {
  return columns.map((name, index) => `$${from + index}::${types[name] ?? "text"}[]`).join(", ");
}

/** The texts of the path of an event, with unqualified names of tables. */
export const EVENT_TEXTS = {
  insertRecord: INSERT_RECORD,
  deleteRecord: DELETE_RECORD,
  selectRecords: SELECT_RECORDS,
  insertNotification: INSERT_NOTIFICATION,
  ...COMPLETIONS,
  insertCompleted: INSERT_COMPLETED,
  insertLogged: insertLogged(),
  insertLoggedKept: insertLogged(WITH_ORIGINALS),
  insertOriginals: INSERT_ORIGINALS,
  insertNotifications: INSERT_NOTIFICATIONS,
  deleteFailures: deleteOf("oncehook_failures"),
  deletePreparations: deleteOf("oncehook_preparations"),
  insertReplay: INSERT_REPLAY,
  replaceResult: REPLACE_RESULT,
  insertReplayNotification: INSERT_REPLAY_NOTIFICATION,
};
