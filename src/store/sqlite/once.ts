import { type Clock, type EventKey, keyText } from "../../domain/index.ts";
import { counted, type Lending } from "../guarded.ts";
import { already, notificationKey } from "../queries/already.ts";
import { CALLBACK_COLUMNS, callbackValues, toRecord } from "../queries/rows.ts";
import type { Completion, NewRecord, OnceEnding, OnceOptions, OnceScope, StoredRecord } from "../store.ts";
import { FaultInRun } from "../store-fault.ts";
import type { RecordRow } from "../tables.ts";
import type { Transaction } from "../transaction.ts";
import type { Connection } from "./connection.ts";
import { isMachineTrouble } from "./hindrance.ts";
import { lending } from "./in-transaction.ts";
import type { Writer } from "./writer.ts";

const INSERT_RECORD = `INSERT INTO oncehook_records
  (source, event_id, event_type, version, status, body_sha256, created_at)
  VALUES (?, ?, ?, ?, 'processing', ?, ?) ON CONFLICT (event_id, source) DO NOTHING`;
const COMPLETE_RECORD = `UPDATE oncehook_records SET status = 'completed', result = ?, processed_at = ?
  WHERE event_id = ? AND source = ?`;
const SELECT_RECORD = "SELECT * FROM oncehook_records WHERE event_id = ? AND source = ?";
const DELETE_FAILURE = "DELETE FROM oncehook_failures WHERE event_id = ? AND source = ?";
const DELETE_PREPARATION = "DELETE FROM oncehook_preparations WHERE event_id = ? AND source = ?";
const INSERT_NOTIFICATION = `INSERT INTO oncehook_notifications
  (idempotency_key, source, event_id, topic, payload, created_at) VALUES (?, ?, ?, ?, ?, ?)`;
const INSERT_CALLBACK = `INSERT INTO oncehook_callbacks (${CALLBACK_COLUMNS.join(", ")})
  VALUES (${CALLBACK_COLUMNS.map(() => "?").join(", ")})`;

export function findRecord(connection: Connection, key: EventKey): StoredRecord | undefined {
  const row = connection.get(SELECT_RECORD, key.eventId, key.source) as RowOfRecord | undefined;
  return row === undefined ? undefined : toRecord(row);
}
type RowOfRecord = Parameters<typeof toRecord>[0] & Omit<RecordRow, "id">;

/** `Store.once` as a member of the writer's next group. */
export function once(
  connection: Connection,
  writer: Writer,
  clock: Clock,
  record: NewRecord,
  run: (scope: OnceScope) => Promise<Completion>,
  { deadline, mode }: OnceOptions,
): Promise<OnceEnding> {
  return writer.submit(keyText(record), deadline, async () => {
    if (!insertRecord(connection, record, clock.now())) {
      return { value: already(findRecord(connection, record), record), keep: false };
    }
    const { result, logRow } = await lending(connection, ({ tx, lending }) =>
      run(scopeOf(connection, clock, record, tx, lending)),
    ).catch((error: unknown) => {
      throw isMachineTrouble(error) ? new FaultInRun(error) : error;
    });
    const at = clock.now().toISOString();
    connection.run(COMPLETE_RECORD, JSON.stringify(result), at, record.eventId, record.source);
    connection.run(DELETE_FAILURE, record.eventId, record.source);
    connection.run(DELETE_PREPARATION, record.eventId, record.source);
    if (mode === "rehearse") return { value: { ending: "rehearsed", result }, keep: false };
    if (logRow !== undefined) connection.run(INSERT_CALLBACK, ...callbackValues(logRow));
    return { value: { ending: "completed", result }, keep: true };
  });
}

function insertRecord(connection: Connection, record: NewRecord, now: Date): boolean {
  const { source, eventId, eventType, version, bodySha256 } = record;
  const at = now.toISOString();
  return connection.run(INSERT_RECORD, source, eventId, eventType, version, bodySha256, at).changes === 1;
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
      const values = [
        notificationKey(key, position),
        key.source,
        key.eventId,
        topic,
        JSON.stringify(payload),
        at,
      ];
      await counted(lending, () => connection.run(INSERT_NOTIFICATION, ...values));
    },
  };
}
