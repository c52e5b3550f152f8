import type { Clock } from "../../domain/index.ts";
import type { HandlerTransaction } from "../handler-transaction.ts";
import {
  type Completion,
  type DryRunOptions,
  duplicateOf,
  type EventReplay,
  type OnceResult,
  type PendingEvent,
  preparationKeyOf,
} from "../once.ts";
import type { Transaction } from "../transaction.ts";
import type { Connection } from "./connection.ts";
import { createEnqueue } from "./enqueue.ts";
import { findRecord, mayDeferKeys } from "./event-task.ts";
import { type HandlerRun, runHandler } from "./handle.ts";
import { NO_EVENT, type WriterTask } from "./writer-queue.ts";

const INSERT_REPLAY = `INSERT INTO oncehook_event_replays
    (event_id, source, replay, replayed_at, actor, reason, earlier_result, earlier_processed_at)
  SELECT event_id, source, ?, ?, ?, ?, result, processed_at FROM oncehook_records
  WHERE event_id = ? AND source = ? AND status = 'completed'
  ON CONFLICT (event_id, source, replay) DO NOTHING`;
const REPLACE_RESULT = "UPDATE oncehook_records SET result = ?, processed_at = ? WHERE event_id = ? AND source = ?";
const DELETE_PREPARATION = "DELETE FROM oncehook_preparations WHERE event_id = ? AND source = ?";
const INSERT_NOTIFICATION = `INSERT INTO oncehook_notifications
  (source, event_id, position, topic, payload, created_at, event_replay_id) VALUES (?, ?, ?, ?, ?, ?, ?)`;

/**
 * A handled event that is run again, in its own transaction: it fails no group of live events. The earlier result is kept
 * before the handler runs. A notification names that row, so that none has the key of an earlier one.
 */
export class ReplayTask implements WriterTask, HandlerRun<Completion> {
  /** No delivery waits for it: the record is there already. */
  readonly eventKey = NO_EVENT;
  readonly deadline: number;
  readonly needsOwnTransaction = true;
  readonly #event: PendingEvent;
  readonly #replaces: EventReplay;
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #dryRun: DryRunOptions | undefined;
  #replayId = 0;
  #result: OnceResult | undefined;

  constructor(event: ReplayedEvent, connection: Connection, clock: Clock, dryRun?: DryRunOptions) {
    this.deadline = event.deadline;
    this.#event = event;
    this.#replaces = event.replaces;
    this.#connection = connection;
    this.#clock = clock;
    this.#dryRun = dryRun;
  }

  async run(): Promise<boolean> {
    const connection = this.#connection;
    const { record } = this.#event;
    const { source, eventId } = record;
    const { replay, actor, reason } = this.#replaces;
    const startedAt = this.#clock.now().toISOString();
    const inserted = connection.run(INSERT_REPLAY, replay, startedAt, actor, reason, eventId, source);
    if (inserted.changes === 0) {
      this.#result = duplicateOf(findRecord(connection, record), record);
      return false;
    }
    this.#replayId = inserted.lastId;
    const { result } = await runHandler(connection, this, (this.#dryRun ?? this.#event).observer);
    const at = this.#clock.now().toISOString();
    if (connection.run(REPLACE_RESULT, JSON.stringify(result), at, eventId, source).changes !== 1)
      throw new Error(`the handler deleted the record of event "${eventId}"`);
    connection.run(DELETE_PREPARATION, preparationKeyOf(record, this.#replaces).eventId, source);
    const isKept = this.#dryRun === undefined;
    if (!isKept && mayDeferKeys(connection)) this.#dryRun?.observer?.foreignKeysUnchecked();
    this.#result = { kind: isKept ? "completed" : "dry-run", result };
    return isKept;
  }

  start(tx: Transaction, transaction: HandlerTransaction): unknown {
    const connection = this.#connection;
    const { source, eventId } = this.#event.record;
    const enqueue = createEnqueue(transaction, this.#clock, (...row) =>
      connection.run(INSERT_NOTIFICATION, source, eventId, ...row, this.#replayId),
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

type ReplayedEvent = PendingEvent & { readonly replaces: EventReplay };

export function isReplayed(event: PendingEvent): event is ReplayedEvent {
  return event.replaces !== undefined;
}
