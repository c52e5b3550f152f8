import type { CallbackLogRow } from "../domain/index.ts";
import type { Store } from "../store/index.ts";

/** Older than any row is that has waited for its group alone; a search by time allows for as much. */
const LATE_MS = 60_000;

/** Stores rows of the callback log, and notes first where they have waited long for it, as they do while a database is away. */
export async function storeCallbacks(
  store: Pick<Store, "appendCallbacks" | "callbacks">,
  rows: readonly CallbackLogRow[],
  now: Date,
): Promise<void> {
  const oldest = Math.min(...rows.map(({ receivedAt }) => Date.parse(receivedAt)));
  if (oldest < now.getTime() - LATE_MS) await store.callbacks.noteLate(new Date(oldest), now);
  await store.appendCallbacks(rows);
}
