import {
  type CallbackLogRow,
  type Clock,
  type EventKey,
  type JsonObject,
  keyText,
} from "../../domain/index.ts";
import { counted, type Lending } from "../guarded.ts";
import { inOwnContext } from "../own-context.ts";
import { already } from "../queries/already.ts";
import {
  CALLBACK_COLUMNS,
  callbackValues,
  STRANGER_COLUMNS,
  strangerValues,
  toRecord,
} from "../queries/rows.ts";
import type { Completion, NewRecord, OnceEnding, OnceOptions, OnceScope, StoredRecord } from "../store.ts";
import { FaultInRun } from "../store-fault.ts";
import type { RecordRow } from "../tables.ts";
import type { Transaction } from "../transaction.ts";
import type { Connection } from "./connection.ts";
import { isMachineTrouble } from "./hindrance.ts";
import { lending } from "./in-transaction.ts";
import type { Writer } from "./writer.ts";

/** What is known of an event: its record, and whether an earlier delivery left a failure or a preparation. */
const SELECT_STANDING = `SELECT
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
const OF_STRANGER = [...CALLBACK_COLUMNS, ...STRANGER_COLUMNS];
const INSERT_STRANGER = `INSERT INTO oncehook_callbacks (${OF_STRANGER.join(", ")})
  VALUES (${OF_STRANGER.map(() => "?").join(", ")})`;

export function findRecord(connection: Connection, key: EventKey): StoredRecord | undefined {
  const row = connection.get(SELECT_RECORD, key.eventId, key.source) as RowOfRecord | undefined;
  return row === undefined ? undefined : toRecord(row);
}
type RowOfRecord = Parameters<typeof toRecord>[0] & Omit<RecordRow, "id">;

interface Standing {
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
  { deadline, mode, watch }: OnceOptions,
): Promise<OnceEnding> {
  const { source, eventId } = record;
  const handle = inOwnContext(run);
  return writer.submit(keyText(record), deadline, async () => {
    const standing = connection.get(SELECT_STANDING, eventId, source) as Standing;
    if (standing.recorded === 1) {
      return { value: already(findRecord(connection, record), record), keep: false };
    }
    const begun = clock.now();
    const { result, logRow } = await lending(
      connection,
      (tx, lending) => handle(scopeOf(connection, clock, record, tx, lending)),
      watch,
    ).catch((error: unknown) => {
      throw isMachineTrouble(error) ? new FaultInRun(error) : error;
    });
    const logged = logRow !== undefined && mode === "commit" ? insertCallback(connection, logRow) : null;
    insertCompleted(connection, record, result, [begun, clock.now()], logged);
    if (standing.failed === 1) connection.run(DELETE_FAILURE, eventId, source);
    if (standing.prepared === 1) connection.run(DELETE_PREPARATION, eventId, source);
    if (mode === "rehearse") {
      if (mayDeferKeys(connection)) watch?.keysUnchecked();
      return { value: { ending: "rehearsed", result }, keep: false };
    }
    return { value: { ending: "completed", result }, keep: true };
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
export function insertCallbacks(connection: Connection, rows: readonly CallbackLogRow[]): void {
  for (const row of rows) {
    const ofStranger = strangerValues(row);
    if (ofStranger === undefined) connection.run(INSERT_CALLBACK, ...callbackValues(row, 0));
    else connection.run(INSERT_STRANGER, ...callbackValues(row, 0), ...ofStranger);
  }
}

/** Returns the row's id. */
function insertCallback(connection: Connection, row: CallbackLogRow): number {
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

function scopeOf(
  connection: Connection,
  clock: Clock,
  key: EventKey,
  tx: Transaction,
  lending: Lending,
): OnceScope {
  let position = 0;
  return {
    tx,
    async enqueue({ topic, payload }) {
      position += 1;
      const at = clock.now().toISOString();
      const head = [key.source, key.eventId, position, topic];
      await counted(lending, `notify("${topic}")`, () =>
        connection.run(INSERT_NOTIFICATION, ...head, JSON.stringify(payload), at),
      );
    },
  };
}
