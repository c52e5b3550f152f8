import {
  type CallbackLogEntry,
  type Clock,
  type EventKey,
  type JsonObject,
  keyText,
} from "../../domain/index.ts";
import { CALLBACK_COLUMNS, callbackValues, REFUSED_COLUMNS, refusedValues } from "../callback-log.ts";
import { type HandlerTransaction, trackCall } from "../handler-transaction.ts";
import {
  bindAsyncContext,
  type Completion,
  duplicateOf,
  type OnceOptions,
  type OnceResult,
  type OnceScope,
} from "../once.ts";
import { type NewRecord, type StoredRecord, toRecord } from "../records.ts";
import { DatabaseErrorInHandler } from "../store-errors.ts";
import type { RecordRow } from "../tables.ts";
import type { Transaction } from "../transaction.ts";
import type { Connection } from "./connection.ts";
import { isSystemError } from "./database-errors.ts";
import { withHandlerTransaction } from "./handler-transaction.ts";
import type { Writer } from "./writer.ts";

/** What is known of an event: its record, and whether an earlier delivery left a failure or a preparation. */
const SELECT_EVENT_STATE = `SELECT
    EXISTS (SELECT 1 FROM oncehook_records r WHERE r.event_id = k.event_id AND r.source = k.source) AS recorded,
    EXISTS (SELECT 1 FROM oncehook_failures f WHERE f.event_id = k.event_id AND f.source = k.source) AS failed,
    EXISTS (SELECT 1 FROM oncehook_preparations p WHERE p.event_id = k.event_id AND p.source = k.source) AS prepared
  FROM (SELECT ? AS event_id, ? AS source) k`;
const INSERT_RECORD = `INSERT INTO oncehook_records
  (source, event_id, event_type, version, status, body_sha256, result, created_at, processed_at, callback_id)
  VALUES (?, ?, ?, ?, 'completed', ?, ?, ?, ?, ?)`;
const SELECT_RECORD = "SELECT * FROM oncehook_records WHERE event_id = ? AND source = ?";
const SELECT_DEFERRED = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%deferred%' LIMIT 1";
const DELETE_FAILURE = "DELETE FROM oncehook_failures WHERE event_id = ? AND source = ?";
const DELETE_PREPARATION = "DELETE FROM oncehook_preparations WHERE event_id = ? AND source = ?";
const INSERT_NOTIFICATION = `INSERT INTO oncehook_notifications
  (source, event_id, position, topic, payload, created_at) VALUES (?, ?, ?, ?, ?, ?)`;
const INSERT_CALLBACK = `INSERT INTO oncehook_callbacks (${CALLBACK_COLUMNS.join(", ")})
  VALUES (${CALLBACK_COLUMNS.map(() => "?").join(", ")})`;
/** Apart from the one that callbacks wait for, which binds no value more for it. */
const REFUSED_LOG_COLUMNS = [...CALLBACK_COLUMNS, ...REFUSED_COLUMNS];
const INSERT_REFUSED_CALLBACK = `INSERT INTO oncehook_callbacks (${REFUSED_LOG_COLUMNS.join(", ")})
  VALUES (${REFUSED_LOG_COLUMNS.map(() => "?").join(", ")})`;

export function findRecord(connection: Connection, key: EventKey): StoredRecord | undefined {
  const row = connection.get(SELECT_RECORD, key.eventId, key.source) as RowOfRecord | undefined;
  return row === undefined ? undefined : toRecord(row);
}
type RowOfRecord = Parameters<typeof toRecord>[0] & Omit<RecordRow, "id">;

interface EventState {
  readonly recorded: number;
  readonly failed: number;
  readonly prepared: number;
}

/**
 * `Store.once` as a member of the writer's next group. There is one writer, so that what was looked up at the begin
 * still holds at the end: the record is written once, when it is complete.
 */
export function once(
  connection: Connection,
  writer: Writer,
  clock: Clock,
  record: NewRecord,
  run: (scope: OnceScope) => Promise<Completion>,
  { deadline, mode, observer }: OnceOptions,
): Promise<OnceResult> {
  const { source, eventId } = record;
  const handle = bindAsyncContext(run);
  return writer.submit(keyText(record), deadline, async () => {
    const state = connection.get(SELECT_EVENT_STATE, eventId, source) as EventState;
    if (state.recorded === 1) {
      return { value: duplicateOf(findRecord(connection, record), record), keep: false };
    }
    const begun = clock.now();
    const { result, logEntry } = await withHandlerTransaction(
      connection,
      (tx, transaction) => handle(createScope(connection, clock, record, tx, transaction)),
      observer,
    ).catch((error: unknown) => {
      throw isSystemError(error) ? new DatabaseErrorInHandler(error) : error;
    });
    const logged = logEntry !== undefined && mode === "commit" ? insertCallback(connection, logEntry) : null;
    insertCompleted(connection, record, result, [begun, clock.now()], logged);
    if (state.failed === 1) connection.run(DELETE_FAILURE, eventId, source);
    if (state.prepared === 1) connection.run(DELETE_PREPARATION, eventId, source);
    if (mode === "dry-run") {
      if (mayDeferKeys(connection)) observer?.foreignKeysUnchecked();
      return { value: { kind: "dry-run", result }, keep: false };
    }
    return { value: { kind: "completed", result }, keep: true };
  });
}

/**
 * SQLite counts what deferred keys are violated, and shows the count to its own COMMIT alone; its check of keys that can be asked
 * for reads whole tables, and finds older violations too.
 */
function mayDeferKeys(connection: Connection): boolean {
  const pragma = connection.get("PRAGMA defer_foreign_keys") as { readonly defer_foreign_keys: number };
  return pragma.defer_foreign_keys === 1 || connection.get(SELECT_DEFERRED) !== undefined;
}

/** Rows that belong to no event's transaction, in one of their own. */
export function insertCallbacks(connection: Connection, rows: readonly CallbackLogEntry[]): void {
  for (const row of rows) {
    const ofStranger = refusedValues(row);
    if (ofStranger === undefined) connection.run(INSERT_CALLBACK, ...callbackValues(row, 0));
    else connection.run(INSERT_REFUSED_CALLBACK, ...callbackValues(row, 0), ...ofStranger);
  }
}

/** Returns the row's id. */
function insertCallback(connection: Connection, row: CallbackLogEntry): number {
  return connection.run(INSERT_CALLBACK, ...callbackValues(row, 1)).lastId;
}

function insertCompleted(
  connection: Connection,
  { source, eventId, eventType, version, bodySha256 }: NewRecord,
  result: JsonObject,
  [begun, ended]: readonly [Date, Date],
  callbackId: number | null,
): void {
  const values = [source, eventId, eventType, version, bodySha256, JSON.stringify(result)];
  connection.run(INSERT_RECORD, ...values, begun.toISOString(), ended.toISOString(), callbackId);
}

function createScope(
  connection: Connection,
  clock: Clock,
  key: EventKey,
  tx: Transaction,
  transaction: HandlerTransaction,
): OnceScope {
  let position = 0;
  return {
    tx,
    async enqueue({ topic, payload }) {
      position += 1;
      const at = clock.now().toISOString();
      const head = [key.source, key.eventId, position, topic];
      await trackCall(transaction, `notify("${topic}")`, () =>
        connection.run(INSERT_NOTIFICATION, ...head, JSON.stringify(payload), at),
      );
    },
  };
}
