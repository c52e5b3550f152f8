import { setImmediate as nextTurn } from "node:timers/promises";
import type pg from "pg";
import type { Clock } from "../../domain/index.ts";
import {
  assertOpen,
  endHandlerTransaction,
  type HandlerTransaction,
  trackCall,
} from "../handler-transaction.ts";
import { type Completion, duplicateOf, type OnceOptions, type OnceResult, type OnceScope } from "../once.ts";
import type { NewRecord } from "../records.ts";
import type { Transaction } from "../transaction.ts";
import { classifyHandlerError, EventLocked } from "./database-errors.ts";
import { inTransaction, type OpenTransaction, RESET_SESSION } from "./in-transaction.ts";
import {
  completionStatements,
  insertRecord,
  type QueuedNotification,
  selectRecord,
  toStoredRecord,
} from "./once-statements.ts";
import { sendBatch } from "./statement.ts";

type RunResult =
  | {
      readonly ran: true;
      readonly completion: Completion;
      readonly notifications: readonly QueuedNotification[];
    }
  | { readonly ran: false; readonly result: OnceResult };

/** One try of `Store.once` in a transaction of its own; the caller repeats it when a passing fault stopped it. */
export async function once(
  pool: pg.Pool,
  lockTimeoutMs: number,
  clock: Clock,
  record: NewRecord,
  run: (scope: OnceScope) => Promise<Completion>,
  { deadline, mode, observer }: OnceOptions,
): Promise<OnceResult> {
  const ran = await inTransaction<RunResult>(
    pool,
    { deadline, lockTimeoutMs, observer },
    {
      opening: [insertRecord(record, clock.now())],
      locked: (cause) => new EventLocked("another delivery holds the event's record", { cause }),
      async run(open, [inserted]) {
        if (inserted?.rowCount !== 1) return { ran: false, result: await findDuplicate(open.client, record) };
        const ran = await runHandler(open, clock, run);
        if (mode === "dry-run") await dryRun(open.client, record, ran, clock);
        return { ran: true, ...ran };
      },
      closing(ran) {
        if (!ran.ran || mode === "dry-run") return "rollback";
        return [
          ...RESET_SESSION,
          ...completionStatements(record, ran.completion, ran.notifications, clock.now()),
        ];
      },
    },
  );
  if (!ran.ran) return ran.result;
  return { kind: mode === "dry-run" ? "dry-run" : "completed", result: ran.completion.result };
}

async function findDuplicate(client: pg.ClientBase, record: NewRecord): Promise<OnceResult> {
  const [answer] = await sendBatch(client, [selectRecord(record)]);
  return duplicateOf(toStoredRecord(answer), record);
}

async function runHandler(
  { tx, transaction }: OpenTransaction,
  clock: Clock,
  run: (scope: OnceScope) => Promise<Completion>,
): Promise<{ completion: Completion; notifications: readonly QueuedNotification[] }> {
  const notifications: QueuedNotification[] = [];
  const completion = await run(createScope(tx, transaction, clock, notifications)).catch((error: unknown) => {
    throw classifyHandlerError(error);
  });
  assertOpen(transaction);
  endHandlerTransaction(transaction);
  // What the handler began and did not wait for reaches the connection by now, and is found: the commit goes out with
  // the completion, and nothing could be found afterwards.
  await nextTurn();
  endHandlerTransaction(transaction);
  return { completion, notifications };
}

async function dryRun(
  client: pg.ClientBase,
  record: NewRecord,
  { completion: { result }, notifications }: Awaited<ReturnType<typeof runHandler>>,
  clock: Clock,
): Promise<void> {
  // What only COMMIT would check is checked now, so that a dry run promises no more than the real one keeps.
  const check = { text: "SET CONSTRAINTS ALL IMMEDIATE" };
  await sendBatch(client, [
    ...RESET_SESSION,
    ...completionStatements(record, { result }, notifications, clock.now()),
    check,
  ]);
}

/** What a handler may do; what it enqueues is kept, and written with the completion in one round trip. */
export function createScope(
  tx: Transaction,
  transaction: HandlerTransaction,
  clock: Clock,
  kept: QueuedNotification[],
): OnceScope {
  return {
    tx,
    async enqueue({ topic, payload }) {
      await trackCall(transaction, `notify("${topic}")`, () =>
        kept.push({ topic, payload: JSON.stringify(payload), at: clock.now().toISOString() }),
      );
    },
  };
}
