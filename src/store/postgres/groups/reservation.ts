import type { NewRecord } from "../../areas/records.ts";
import type { Completion, EventReplay, PendingEvent } from "../../once.ts";
import type { WireStatement } from "../wire/message-writer.ts";
import type { StatementResult } from "../wire/statement-batch.ts";
import type { EventStatements, QueuedNotification } from "./event-statements.ts";

/** How the transaction of one event holds its record while the handler runs, and completes it. */
export interface Reservation {
  /** Sent with BEGIN. */
  readonly opening: WireStatement;
  /** @returns false where the event may not run: a record was there, or its replay has run it */
  holds(opened: StatementResult | undefined): boolean;
  insertNotification(position: number, notification: QueuedNotification): WireStatement;
  complete(completion: Completion, notifications: readonly QueuedNotification[], now: Date): readonly WireStatement[];
}

export function reservationOf(event: PendingEvent, statements: EventStatements, now: Date): Reservation {
  const { record, replaces } = event;
  return replaces === undefined
    ? newRecord(record, statements, now)
    : replacedResult({ record, replaces }, statements, now);
}

function newRecord(record: NewRecord, statements: EventStatements, now: Date): Reservation {
  return {
    opening: statements.insertRecord(record, now),
    holds: (opened) => opened?.rowCount === 1,
    insertNotification: (position, notification) => statements.insertNotification(record, position, notification),
    complete: (completion, notifications, at) => statements.completion(record, completion, notifications, at),
  };
}

/** A handled event that is run again. Its notifications name the replay, so that none has the key of an earlier one. */
function replacedResult(
  { record, replaces }: { readonly record: NewRecord; readonly replaces: EventReplay },
  statements: EventStatements,
  now: Date,
): Reservation {
  const { replay } = replaces;
  let id = "";
  const insertNotification: Reservation["insertNotification"] = (position, notification) =>
    statements.insertReplayNotification(record, position, notification, id);
  return {
    opening: statements.insertReplay(record, replaces, now),
    holds(opened) {
      id = String(opened?.rows[0]?.[0] ?? "");
      return opened?.rowCount === 1;
    },
    insertNotification,
    complete: ({ result }, notifications, at) => [
      statements.replaceResult(record, { replay, id }, result, at),
      ...notifications.map((one, index) => insertNotification(index + 1, one)),
    ],
  };
}
