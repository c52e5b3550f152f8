import { type Clock, type EventKey, keyText } from "../../domain/index.ts";
import { RECORD_COLUMNS, RECORD_FIELDS, type RecordRow, type StoredRecord, toRecord } from "../areas/records.ts";
import { CALLBACK_COLUMNS, callbackValues, REFUSED_COLUMNS, refusedValues } from "../callback-columns.ts";
import type { HandlerTransaction } from "../handler-transaction.ts";
import { type Completion, type DryRunOptions, duplicateOf, type OnceResult, type PendingEvent } from "../once.ts";
import type { NewLogRow } from "../original-keeper.ts";
import type { Transaction } from "../transaction.ts";
import type { Connection } from "./connection.ts";
import { createEnqueue } from "./enqueue.ts";
import { type HandlerRun, runHandler } from "./handle.ts";
import { insertOriginals, type TaskOriginal } from "./insert-originals.ts";
import type { WriterTask } from "./writer-queue.ts";

/** The state of an event: its record, and whether an earlier delivery left a failure or a preparation. */
const SELECT_EVENT_STATE = `SELECT
    EXISTS (SELECT 1 FROM oncehook_records r WHERE r.event_id = k.event_id AND r.source = k.source) AS recorded,
    EXISTS (SELECT 1 FROM oncehook_failures f WHERE f.event_id = k.event_id AND f.source = k.source) AS failed,
    EXISTS (SELECT 1 FROM oncehook_preparations p WHERE p.event_id = k.event_id AND p.source = k.source) AS prepared
  FROM (SELECT ? AS event_id, ? AS source) k`;
const INSERT_RECORD = `INSERT INTO oncehook_records
  (source, event_id, event_type, version, status, body_sha256, result, created_at, processed_at, callback_id)
  VALUES (?, ?, ?, ?, 'completed', ?, ?, ?, ?, ?)`;
const SELECT_RECORD = `SELECT ${RECORD_FIELDS.map((name, index) => `${RECORD_COLUMNS[index]} AS ${name}`).join(", ")}
  FROM oncehook_records WHERE event_id = ? AND source = ?`;
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
  const row = connection.get(SELECT_RECORD, key.eventId, key.source) as RecordRow | undefined;
  return row === undefined ? undefined : toRecord(row);
}

/**
 * An event as a member of the writer's next group. There is one writer: a look-up at the begin still holds at the end. So the
 * record is written once, when it is complete.
 */
export class EventTask implements WriterTask, HandlerRun<Completion> {
  readonly eventKey: string;
  readonly deadline: number;
  needsOwnTransaction: boolean;
  readonly #event: PendingEvent;
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #dryRun: DryRunOptions | undefined;
  #result: OnceResult | undefined;
  kept: TaskOriginal | undefined;

  constructor(event: PendingEvent, connection: Connection, clock: Clock, dryRun?: DryRunOptions) {
    this.eventKey = keyText(event.record);
    this.deadline = event.deadline;
    this.needsOwnTransaction = dryRun !== undefined;
    this.#event = event;
    this.#connection = connection;
    this.#clock = clock;
    this.#dryRun = dryRun;
  }

  async run(): Promise<boolean> {
    const connection = this.#connection;
    const { record } = this.#event;
    const { source, eventId, eventType, version, bodySha256 } = record;
    this.kept = undefined;
    const found = connection.get(SELECT_EVENT_STATE, eventId, source);
    const state = found as Record<"recorded" | "failed" | "prepared", number>;
    if (state.recorded === 1) {
      this.#result = duplicateOf(findRecord(connection, record), record);
      return false;
    }
    const startedAt = this.#clock.now();
    const completion = await runHandler(connection, this, (this.#dryRun ?? this.#event).observer);
    const { result, logEntry } = completion;
    const isKept = this.#dryRun === undefined;
    const logged = logEntry && isKept ? connection.run(INSERT_CALLBACK, ...callbackValues(logEntry, 1)) : undefined;
    const values = [source, eventId, eventType, version, bodySha256, JSON.stringify(result)];
    const times = [startedAt.toISOString(), this.#clock.now().toISOString()];
    connection.run(INSERT_RECORD, ...values, ...times, logged?.lastId ?? null);
    if (state.failed === 1) connection.run(DELETE_FAILURE, eventId, source);
    if (state.prepared === 1) connection.run(DELETE_PREPARATION, eventId, source);
    if (!isKept && mayDeferKeys(connection)) this.#dryRun?.observer?.foreignKeysUnchecked();
    if (logged !== undefined && completion.original !== undefined)
      this.kept = { record, completion, callbackId: logged.lastId };
    this.#result = { kind: isKept ? "completed" : "dry-run", result };
    return isKept;
  }

  start(tx: Transaction, transaction: HandlerTransaction): unknown {
    const connection = this.#connection;
    const { source, eventId } = this.#event.record;
    const enqueue = createEnqueue(transaction, this.#clock, (...row) =>
      connection.run(INSERT_NOTIFICATION, source, eventId, ...row),
    );
    return this.#event.handle({ tx, enqueue });
  }

  complete(returned: unknown): Completion {
    return this.#event.complete(returned);
  }

  settle(): void {
    this.#event.settle(this.#result as OnceResult);
  }

  fail(error: unknown): void {
    this.#event.fail(error);
  }
}

/**
 * SQLite counts the violated deferred keys, and shows the count only to its own COMMIT. Its check of keys on request reads
 * whole tables, and finds older violations too.
 */
export function mayDeferKeys(connection: Connection): boolean {
  const pragma = connection.get("PRAGMA defer_foreign_keys") as { readonly defer_foreign_keys: number };
  return pragma.defer_foreign_keys === 1 || connection.get(SELECT_DEFERRED) !== undefined;
}

/** Rows that belong to no event's transaction, in one of their own, with the originals that they bring. */
export function insertCallbacks(connection: Connection, rows: readonly NewLogRow[]): void {
  const kept: TaskOriginal[] = [];
  for (const row of rows) {
    const refused = refusedValues(row);
    const statement = refused === undefined ? INSERT_CALLBACK : INSERT_REFUSED_CALLBACK;
    const { lastId } = connection.run(statement, ...callbackValues(row, 0), ...(refused ?? []));
    if (row.unhandled !== undefined) kept.push({ ...row.unhandled, callbackId: lastId });
  }
  insertOriginals(connection, kept);
}
