import { setImmediate as nextTurn } from "node:timers/promises";
import type pg from "pg";
import type { Clock } from "../../domain/index.ts";
import { assertOpen, counted, type Lending, takeBack } from "../guarded.ts";
import { already } from "../queries/already.ts";
import type { Completion, NewRecord, OnceEnding, OnceOptions, OnceScope } from "../store.ts";
import type { Transaction } from "../transaction.ts";
import { EventLocked, faultInRun } from "./hindrance.ts";
import { inTransaction, type Opened, RESETS } from "./in-transaction.ts";
import { completing, insertRecord, type Notification, selectRecord, toStoredRecord } from "./records.ts";
import { exchange } from "./statement.ts";

type Ran =
  | { readonly ran: true; readonly completion: Completion; readonly notifications: readonly Notification[] }
  | { readonly ran: false; readonly ending: OnceEnding };

/** One try of `Store.once` in a transaction of its own; the caller repeats it when a passing fault stopped it. */
export async function once(
  pool: pg.Pool,
  lockTimeoutMs: number,
  clock: Clock,
  record: NewRecord,
  run: (scope: OnceScope) => Promise<Completion>,
  { deadline, mode, watch }: OnceOptions,
): Promise<OnceEnding> {
  const ran = await inTransaction<Ran>(
    pool,
    { deadline, lockTimeoutMs, watch },
    {
      opening: [insertRecord(record, clock.now())],
      locked: (cause) => new EventLocked("another delivery holds the event's record", { cause }),
      async run(open, [inserted]) {
        if (inserted?.rowCount !== 1) return { ran: false, ending: await found(open.client, record) };
        const ran = await runIn(open, clock, run);
        if (mode === "rehearse") await rehearse(open.client, record, ran, clock);
        return { ran: true, ...ran };
      },
      closing(ran) {
        if (!ran.ran || mode === "rehearse") return "rollback";
        return [...RESETS, ...completing(record, ran.completion, ran.notifications, clock.now())];
      },
    },
  );
  if (!ran.ran) return ran.ending;
  return { ending: mode === "rehearse" ? "rehearsed" : "completed", result: ran.completion.result };
}

async function found(client: pg.ClientBase, record: NewRecord): Promise<OnceEnding> {
  const [answer] = await exchange(client, [selectRecord(record)]);
  return already(toStoredRecord(answer), record);
}

async function runIn(
  { tx, lending }: Opened,
  clock: Clock,
  run: (scope: OnceScope) => Promise<Completion>,
): Promise<{ completion: Completion; notifications: readonly Notification[] }> {
  const notifications: Notification[] = [];
  const completion = await run(scopeOf(tx, lending, clock, notifications)).catch((error: unknown) => {
    throw faultInRun(error);
  });
  assertOpen(lending);
  takeBack(lending);
  // What the handler began and did not wait for reaches the connection by now, and is found: the commit goes out with
  // the completion, and nothing could be found afterwards.
  await nextTurn();
  takeBack(lending);
  return { completion, notifications };
}

async function rehearse(
  client: pg.ClientBase,
  record: NewRecord,
  { completion: { result }, notifications }: Awaited<ReturnType<typeof runIn>>,
  clock: Clock,
): Promise<void> {
  // What only COMMIT would check is checked now, so that a dry run promises no more than the real one keeps.
  const check = { text: "SET CONSTRAINTS ALL IMMEDIATE" };
  await exchange(client, [...RESETS, ...completing(record, { result }, notifications, clock.now()), check]);
}

/** What a handler may do; what it enqueues is kept, and written with the completion in one round trip. */
export function scopeOf(tx: Transaction, lending: Lending, clock: Clock, kept: Notification[]): OnceScope {
  return {
    tx,
    async enqueue({ topic, payload }) {
      await counted(lending, `notify("${topic}")`, () =>
        kept.push({ topic, payload: JSON.stringify(payload), at: clock.now().toISOString() }),
      );
    },
  };
}
