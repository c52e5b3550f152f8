import type { CallbackLogEntry, EventKey, JsonObject } from "../domain/index.ts";
import type { NewRecord, StoredRecord } from "./areas/records.ts";
import type { OriginalRequest } from "./original-keeper.ts";
import type { Deadline } from "./retry-until.ts";
import type { Transaction, TransactionObserver } from "./transaction.ts";

/**
 * An event that the store handles as soon as it can, sharing a transaction where the database allows that. Exactly one of
 * `settle` and `fail` is called, once, in no particular asynchronous context.
 */
export interface PendingEvent {
  readonly record: NewRecord;
  readonly deadline: Deadline;
  /** Set where it locks rows before its handler, for which the others of a group should not wait. */
  readonly locksRows?: boolean;
  /** Sees its statements, in each run; a dry run has an observer of its own. */
  readonly observer?: TransactionObserver | undefined;
  /** Set where a handled event is run again: its result replaces the one of its record. */
  readonly replaces?: EventReplay | undefined;
  /**
   * Starts the handler, in the asynchronous context of its own delivery. It may run again where its transaction was lost. An
   * error that it throws or rejects with fails the event.
   */
  handle(scope: OnceScope): unknown;
  /** Turns what the handler returned into what is stored. @throws an error that fails the event */
  complete(returned: unknown): Completion;
  /** Receives the result once it is durable. */
  settle(result: OnceResult): void;
  /** Called with what the handler threw, or a StoreError. */
  fail(error: unknown): void;
}

/** A replay of handled events, which runs each of them once. */
export interface EventReplay {
  /** Tells it from other replays of the same event. */
  readonly replay: string;
  readonly actor: string;
  readonly reason: string;
}

/** The key of an event's prepare step. A replay has another one, since its outside work is done again. */
export function preparationKeyOf(key: EventKey, replaces: Pick<EventReplay, "replay"> | undefined): EventKey {
  if (replaces === undefined) return { source: key.source, eventId: key.eventId };
  return { source: key.source, eventId: `replay ${replaces.replay} of ${key.eventId}` };
}

/** The ending of a delivery whose record was there. @throws Error for a record that is not completed */
export function duplicateOf(record: StoredRecord | undefined, { eventId }: EventKey): OnceResult {
  if (record?.status === "completed") return { kind: "duplicate", record };
  throw new Error(`the record of event "${eventId}" is not completed: a handler committed the transaction itself`);
}

export interface OnceScope {
  /** Handed to the handler; refuses every use after the transaction has ended. */
  readonly tx: Transaction;
  /** Writes an outbox row that becomes visible with the record. */
  enqueue(notification: { readonly topic: string; readonly payload: JsonObject }): Promise<void>;
}

/** Of an event that is rolled back at its end. */
export interface DryRunOptions {
  readonly observer: TransactionObserver | undefined;
}

/** The completion of an event: the result to store, and the log row and the original that commit with it. */
export interface Completion {
  readonly result: JsonObject;
  readonly logEntry?: CallbackLogEntry;
  /** Only beside a log row, by whose id an original is found. */
  readonly original?: OriginalRequest;
}

export type OnceResult =
  /** This call ran and committed. */
  | { readonly kind: "completed"; readonly result: JsonObject }
  /** A completed record was there, or came to be while this call waited; `run` had no effect. Or this replay has run it. */
  | { readonly kind: "duplicate"; readonly record: StoredRecord }
  /** `run` succeeded and all of it was rolled back on purpose. */
  | { readonly kind: "dry-run"; readonly result: JsonObject };
