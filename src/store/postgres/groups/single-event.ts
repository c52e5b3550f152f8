import { setImmediate as nextTurn } from "node:timers/promises";
import type pg from "pg";
import type { Clock } from "../../../domain/index.ts";
import { assertOpen, endHandlerTransaction, type HandlerTransaction, trackCall } from "../../handler-transaction.ts";
import {
  type Completion,
  type DryRunOptions,
  duplicateOf,
  type OnceResult,
  type OnceScope,
  type PendingEvent,
} from "../../once.ts";
import type { Transaction } from "../../transaction.ts";
import { classifyHandlerError } from "../wire/database-errors.ts";
import type { WireStatement } from "../wire/message-writer.ts";
import { sendBatch } from "../wire/statement.ts";
import {
  eventStatementsOf,
  type HandlerResult,
  pauseOriginalsAfter,
  type QueuedNotification,
  toStoredRecords,
} from "./event-statements.ts";
import { inTransaction, RESET_SESSION } from "./in-transaction.ts";
import { reservationOf } from "./reservation.ts";

/** One try of an event in a transaction; the caller repeats it after a transient error. */
export async function handleSingle(
  database: { pool: pg.Pool; lockTimeoutMs: number; clock: Clock },
  event: PendingEvent,
  dryRun?: DryRunOptions,
): Promise<OnceResult> {
  const { pool, lockTimeoutMs, clock } = database;
  let closing: readonly WireStatement[] | "rollback" = "rollback";
  let completed: Completion | undefined;
  const { record, deadline } = event;
  const limits = { deadline, lockTimeoutMs, observer: (dryRun ?? event).observer };
  const statements = eventStatementsOf(pool);
  const reservation = reservationOf(event, statements, clock.now());
  const running = inTransaction<OnceResult>(pool, limits, {
    opening: [reservation.opening],
    async run({ tx, client, transaction }, [opened]) {
      if (!reservation.holds(opened)) {
        const [answer] = await sendBatch(client, [statements.selectRecords([record])]);
        return duplicateOf(toStoredRecords(answer)[0], record);
      }
      const notifications: QueuedNotification[] = [];
      let written = 0;
      const scope = createScope(tx, transaction, clock, (notification) => {
        if (!transaction.hasSavepoint) return notifications.push(notification);
        // A rollback to the savepoint takes it back.
        written += 1;
        const position = notifications.length + written;
        return sendBatch(client, [reservation.insertNotification(position, notification)]);
      });
      const handle = async () => event.complete(await event.handle(scope));
      const completion = await handle().catch((error: unknown) => {
        throw classifyHandlerError(error);
      });
      assertOpen(transaction);
      endHandlerTransaction(transaction);
      // A call that the handler did not await reaches the connection by now, and is found. The commit goes out with the
      // completion, and nothing could be found afterwards.
      await nextTurn();
      endHandlerTransaction(transaction);
      const complete = (stored: Completion) => reservation.complete(stored, notifications, clock.now());
      const { result } = completion;
      if (dryRun !== undefined) {
        // Checks that only COMMIT would make are made now: a dry run promises no more than the real one keeps.
        const check = { text: "SET CONSTRAINTS ALL IMMEDIATE" };
        await sendBatch(client, [...RESET_SESSION, ...complete({ result }), check]);
        return { kind: "dry-run", result };
      }
      completed = completion;
      closing = [...RESET_SESSION, ...complete(completion), ...statements.originals([{ record, completion }])];
      return { kind: "completed", result };
    },
    closing: () => closing,
  });
  return running.catch((error: unknown) => {
    if (completed === undefined || !pauseOriginalsAfter(error, [{ completion: completed }])) throw error;
    return handleSingle(database, event);
  });
}

/** Runs the handler of a group's member. @throws its error, or an error where it left a call unfinished */
export async function runMemberHandler(
  event: PendingEvent,
  tx: Transaction,
  transaction: HandlerTransaction,
  clock: Clock,
): Promise<HandlerResult> {
  const notifications: QueuedNotification[] = [];
  const scope = createScope(tx, transaction, clock, (notification) => notifications.push(notification));
  const returned = await event.handle(scope);
  // If the group gave this run up, another one completes the event.
  assertOpen(transaction);
  endHandlerTransaction(transaction);
  return { completion: event.complete(returned), notifications };
}

/** @param keep takes a notification that is written with the completion, or writes it at once */
function createScope(
  tx: Transaction,
  transaction: HandlerTransaction,
  clock: Clock,
  keep: (notification: QueuedNotification) => unknown,
): OnceScope {
  return {
    tx,
    async enqueue({ topic, payload }) {
      await trackCall(transaction, `notify("${topic}")`, () =>
        keep({ topic, payload: JSON.stringify(payload), at: clock.now().toISOString() }),
      );
    },
  };
}
