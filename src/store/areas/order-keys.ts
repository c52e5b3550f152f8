import { sql } from "kysely";
import { type Database, equal, insert, run, select } from "../database.ts";
import { beforeHandler, OrderKeyLocked } from "../store-errors.ts";
import type { Transaction } from "../transaction.ts";
import { ownQueryOf } from "../transaction-handle.ts";

/** The place of an event among those of its key. */
export interface EventOrder {
  readonly source: string;
  readonly orderKey: string;
  /** The platform's time, in seconds since the epoch. */
  readonly at: number;
  /** A text that sorts. */
  readonly sequence: string | null;
  /** The value that shows a stale event; undefined where none is stale. */
  readonly staleBy: "time" | "sequence" | undefined;
}

/**
 * Waits until no other transaction works on an event of this key, and keeps others from it until its end.
 * @returns whether a newer event has run @throws OrderKeyLocked where the other one lasts for longer than the lock timeout
 */
export async function takeOrder(
  tx: Transaction,
  { source, orderKey, at, sequence, staleBy }: EventOrder,
  now: Date,
): Promise<boolean> {
  const row = { source, orderKey, latestAt: at, latestSequence: sequence, touchedAt: now };
  const statement = sql`${insert("oncehook_order_keys", row)} ON CONFLICT (order_key, source) DO UPDATE SET
      latest_at = CASE WHEN oncehook_order_keys.latest_at > excluded.latest_at
        THEN oncehook_order_keys.latest_at ELSE excluded.latest_at END,
      latest_sequence = CASE WHEN excluded.latest_sequence IS NULL
          OR oncehook_order_keys.latest_sequence > excluded.latest_sequence
        THEN oncehook_order_keys.latest_sequence ELSE excluded.latest_sequence END,
      touched_at = excluded.touched_at
    RETURNING ${isStale(at, sequence, staleBy)} AS is_stale`;
  const { rows } = await beforeHandler(
    () => run<{ isStale: number }>(ownQueryOf(tx), statement),
    (cause) => new OrderKeyLocked("an earlier event of the same key holds it", { cause }),
  );
  return rows[0]?.isStale === 1;
}

/** Whether events of this key are accepted and have not ended: a later one must not overtake them. */
export async function isKeyWaiting(
  database: Database,
  { source, orderKey }: Pick<EventOrder, "source" | "orderKey">,
): Promise<boolean> {
  const isAccepted = sql`${equal({ source, orderKey, state: "accepted" })} AND order_key <> ''`;
  return (await select(database, sql`SELECT 1 FROM oncehook_failures WHERE ${isAccepted} LIMIT 1`)).length > 0;
}

/** The row has the newest by now; an event without a sequence cannot be compared, and runs. */
function isStale(at: number, sequence: string | null, staleBy: EventOrder["staleBy"]) {
  if (staleBy === "time") return sql`CASE WHEN latest_at > ${at} THEN 1 ELSE 0 END`;
  if (staleBy === undefined || sequence === null) return sql`0`;
  return sql`CASE WHEN latest_sequence > ${sequence} THEN 1 ELSE 0 END`;
}
