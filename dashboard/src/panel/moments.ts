import type { TimelineEntry } from "../views.ts";

/** The arrival of the event, before what became of it. */
interface Received {
  readonly kind: "received";
  readonly at: string;
}

export type Moment = TimelineEntry | Received;

/**
 * The entries as they are shown: the event is received first. Its record is completed no earlier than the attempt that
 * completed it ends.
 */
export function momentsOf(entries: readonly TimelineEntry[]): readonly Moment[] {
  const shown = entries.map((entry) =>
    entry.kind === "record" ? { ...entry, at: completedAt(entry.at, entries) } : entry,
  );
  const sorted = shown.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at));
  const [first] = sorted;
  // Without a callback at the beginning, the event came from a file or a backfill.
  if (first === undefined || !("callback_id" in first) || first.callback_id === null) return sorted;
  return [{ kind: "received", at: first.at }, ...sorted];
}

/** A record has the time of its write, before the end of its attempt. Their clocks may differ. */
function completedAt(at: string, entries: readonly TimelineEntry[]): string {
  const time = Date.parse(at);
  for (const entry of entries) {
    if (entry.kind !== "attempt" || entry.outcome !== "success") continue;
    const start = Date.parse(entry.at);
    const end = start + Math.round(entry.duration_ms);
    if (start <= time && time < end) return new Date(end).toISOString();
  }
  return at;
}
