import type { BulkReplayView } from "oncehook/admin-client";

/** Which failures are replayed, as the table says it. */
export function filterInWords(filter: BulkReplayView["filter"]): string {
  const set = Object.entries(filter).filter(([, value]) => value !== undefined && value !== null);
  return set.length === 0 ? "all" : set.map(([name, value]) => `${name} ${value}`).join(", ");
}
