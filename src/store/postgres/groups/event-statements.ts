import pg from "pg";
import { type CallbackLogEntry, type EventKey, getOrMake, type JsonObject } from "../../../domain/index.ts";
import { type NewRecord, RECORD_FIELDS, type RecordRow, type StoredRecord, toRecord } from "../../areas/records.ts";
import { CALLBACK_COLUMNS, callbackValues } from "../../callback-columns.ts";
import { type Completion, type EventReplay, preparationKeyOf } from "../../once.ts";
import { type KeptEvent, type NewBlock, pauseAfterError, sealOriginals } from "../../original-keeper.ts";
import type { QualifiedNames } from "../../qualified-names.ts";
import type { WireStatement, WireValue } from "../wire/message-writer.ts";
import { qualifiedNamesOf } from "../wire/names-of-connection.ts";
import { prepared } from "../wire/prepared-names.ts";
import type { StatementResult } from "../wire/statement-batch.ts";
import {
  CALLBACK_COLUMN_TYPES,
  COMPLETED,
  EVENT_TEXTS,
  NOT_ITS_TRANSACTION,
  NOTIFICATION_COLUMNS,
  NOTIFICATION_TYPES,
} from "./event-texts.ts";

export interface QueuedNotification {
  readonly topic: string;
  /** JSON. */
  readonly payload: string;
  /** ISO 8601. */
  readonly at: string;
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

/** A replay of a handled event, with the id of its row. */
export interface HeldReplay extends Pick<EventReplay, "replay"> {
  readonly id: string;
}

/** The statements on the path of an event in one schema; their texts and names are made once. */
export class EventStatements {
  readonly #texts: Readonly<Record<keyof typeof EVENT_TEXTS, WireStatement>>;

  constructor(names: QualifiedNames) {
    const texts = Object.entries(EVENT_TEXTS).map(([name, text]) => [name, prepared(names.text(text))]);
    this.#texts = Object.fromEntries(texts);
  }

  /** Reserves the event: it answers one row, or none where a record is there. */
  insertRecord(record: NewRecord, now: Date): WireStatement {
    const { source, eventId, eventType, version, bodySha256 } = record;
    const values = [source, eventId, eventType, version, bodySha256, now.toISOString()];
    return { ...this.#texts.insertRecord, values };
  }

  /** Gives an event back that its own transaction has reserved. */
  deleteRecord({ eventId, source }: EventKey): WireStatement {
    return { ...this.#texts.deleteRecord, values: [eventId, source] };
  }

  selectRecords(keys: readonly EventKey[]): WireStatement {
    return { ...this.#texts.selectRecords, values: keyLists(keys) };
  }

  insertNotification(
    { source, eventId }: EventKey,
    position: number,
    { topic, payload, at }: QueuedNotification,
  ): WireStatement {
    return { ...this.#texts.insertNotification, values: [source, eventId, position, topic, payload, at] };
  }

  /** Reserves a handled event for a replay: it answers the id of the replay's row, or none. */
  insertReplay({ eventId, source }: EventKey, { replay, actor, reason }: EventReplay, now: Date): WireStatement {
    return { ...this.#texts.insertReplay, values: [eventId, source, replay, now.toISOString(), actor, reason] };
  }

  insertReplayNotification(
    key: EventKey,
    position: number,
    notification: QueuedNotification,
    replayId: string,
  ): WireStatement {
    const { values = [] } = this.insertNotification(key, position, notification);
    return { ...this.#texts.insertReplayNotification, values: [...values, replayId] };
  }

  /** Puts the result of a replay in the place of the earlier one. */
  replaceResult(key: EventKey, { replay, id }: HeldReplay, result: JsonObject, now: Date): WireStatement {
    const { eventId, source } = key;
    const prepared = preparationKeyOf(key, { replay }).eventId;
    const values = [JSON.stringify(result), now.toISOString(), eventId, source, id, prepared];
    return { ...this.#texts.replaceResult, values };
  }

  /** Everything that becomes true with an event: its result, its notifications, its row of the callback log. */
  completion(
    { source, eventId }: EventKey,
    { result, logEntry }: Completion,
    [first, ...more]: readonly QueuedNotification[],
    now: Date,
  ): WireStatement[] {
    const values: WireValue[] = [JSON.stringify(result), now.toISOString(), eventId, source];
    if (first !== undefined) values.push(first.topic, first.payload, first.at);
    if (logEntry !== undefined) values.push(...callbackValues(logEntry, 1));
    const { complete, completeLogged, completeNotified, completeBoth } = this.#texts;
    const [plain, logged] = first === undefined ? [complete, completeLogged] : [completeNotified, completeBoth];
    const others = more.map((one, index) => this.insertNotification({ source, eventId }, index + 2, one));
    return [{ ...(logEntry === undefined ? plain : logged), values }, ...others];
  }

  /** Everything that becomes true with the events of an optimistic group, each kind of row in one statement. */
  completions(events: readonly CompletedEvent[], startedAt: Date, endedAt: Date): WireStatement[] {
    const { insertNotifications, insertCompleted, deleteFailures, deletePreparations } = this.#texts;
    const times = [startedAt.toISOString(), endedAt.toISOString()];
    const statements: WireStatement[] = [];
    const notifications = events.flatMap(({ record: { source, eventId }, notifications }) =>
      notifications.map(({ topic, payload, at }, index) => [source, eventId, index + 1, topic, payload, at]),
    );
    if (notifications.length > 0) {
      const values = transposed(notifications, NOTIFICATION_COLUMNS, NOTIFICATION_TYPES);
      statements.push({ ...insertNotifications, values });
    }
    const logged = events.filter(({ completion }) => completion.logEntry !== undefined);
    statements.push(...this.#logged(logged, times));
    if (logged.length < events.length) {
      const others = events.filter(({ completion }) => completion.logEntry === undefined);
      statements.push({ ...insertCompleted, values: [...recordArrays(others), ...times] });
    }
    const keys = keyLists(events.map(({ record }) => record));
    return [...statements, { ...deleteFailures, values: keys }, { ...deletePreparations, values: keys }];
  }

  /** The records and log entries of an optimistic group, with their originals. */
  #logged(events: readonly CompletedEvent[], times: readonly string[]): WireStatement[] {
    const { insertLogged, insertLoggedKept } = this.#texts;
    const valuesOf = (some: readonly CompletedEvent[]) => {
      const rows = some.map(({ completion }) => callbackValues(completion.logEntry as CallbackLogEntry, 1));
      return [...recordArrays(some), ...times, ...transposed(rows, CALLBACK_COLUMNS)];
    };
    const sealed = sealOriginals(events);
    const kept = new Set(sealed.flatMap((one) => one.events));
    const others = kept.size === 0 ? events : events.filter((event) => !kept.has(event));
    const statements = sealed.map(({ block, events: some }) => {
      return { ...insertLoggedKept, values: [...valuesOf(some), ...blockValues(block)] };
    });
    return others.length === 0 ? statements : [...statements, { ...insertLogged, values: valuesOf(others) }];
  }

  /** The originals of events that are completed one by one; it stands behind their completions. */
  originals(events: readonly Pick<CompletedEvent, "record" | "completion">[]): WireStatement[] {
    const logged = events.filter(({ completion }) => completion.logEntry !== undefined);
    return sealOriginals(logged).map(({ block, events: kept }) => {
      const values = [...keyLists(kept.map(({ record }) => record)), ...blockValues(block)];
      return { ...this.#texts.insertOriginals, values };
    });
  }
}

const made = new WeakMap<QualifiedNames, EventStatements>();

/** @param of a pool, or one of its connections */
export function eventStatementsOf(of: object): EventStatements {
  const names = qualifiedNamesOf(of);
  return getOrMake(made, names, () => new EventStatements(names));
}

export function toStoredRecords(answer: StatementResult | undefined): StoredRecord[] {
  return (answer?.rows ?? []).map((values) => {
    const row = Object.fromEntries(RECORD_FIELDS.map((name, index) => [name, values[index] ?? null]));
    return toRecord(row as unknown as RecordRow);
  });
}

/** Keeps none for a minute after an error of their statement, as `pauseAfterError` does. @returns whether it is one */
export function pauseOriginalsAfter(error: unknown, events: readonly Pick<KeptEvent, "completion">[]): boolean {
  return pauseAfterError(
    error,
    events.map(({ completion }) => completion.original?.keeper),
  );
}

/** Whether a completion was refused because the handler, or something it called, had ended the transaction. */
export function isForeignTransactionError(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.message.includes(NOT_ITS_TRANSACTION);
}

function blockValues({ keepUntil, newestAt, encrypted }: NewBlock): WireValue[] {
  return [keepUntil.toISOString(), newestAt.toISOString(), encrypted];
}

function keyLists(keys: readonly EventKey[]): WireValue[] {
  return [keys.map(({ eventId }) => eventId), keys.map(({ source }) => source)];
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
