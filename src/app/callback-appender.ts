import {
  type CallbackLogEntry,
  type Clock,
  isWithoutEvent,
  type Log,
  logEntryBytes,
} from "../domain/index.ts";
import type { Store } from "../store/index.ts";

/** Older than any row is that has waited for its group alone; a search by time allows for as much. */
const LATE_MS = 60_000;
/** After so great a part of what refused requests may take in all, the oldest of them are looked for. */
const REFUSED_SHARE = 8;

/** Stores rows of the callback log, and notes first where they have waited long for it, as they do while a database is away. */
export async function appendWithLateMark(
  store: Pick<Store, "appendCallbacks" | "callbacks">,
  rows: readonly CallbackLogEntry[],
  now: Date,
): Promise<void> {
  const oldest = Math.min(...rows.map(({ receivedAt }) => Date.parse(receivedAt)));
  if (oldest < now.getTime() - LATE_MS) await store.callbacks.noteLate(new Date(oldest), now);
  await store.appendCallbacks(rows);
}

/** The same, and keeps the rows of strangers within their bytes: each process counts what it has added itself. */
export function createCallbackAppender(
  store: Pick<Store, "appendCallbacks" | "callbacks" | "retention">,
  refusedBytes: number,
  clock: Clock,
  log: Log,
): (rows: readonly CallbackLogEntry[]) => Promise<void> {
  let added = 0;

  async function boundRefused(): Promise<void> {
    added = 0;
    try {
      await store.retention.trimRefused(refusedBytes);
    } catch (error) {
      // The rows are stored; the retention job comes by too.
      log.warn({ err: error }, "deleting old refused callbacks from the log failed");
    }
  }

  return async (rows) => {
    await appendWithLateMark(store, rows, clock.now());
    for (const row of rows) if (isWithoutEvent(row)) added += logEntryBytes(row);
    if (added > refusedBytes / REFUSED_SHARE) await boundRefused();
  };
}
