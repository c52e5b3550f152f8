import type { OutcomeCounts } from "oncehook/admin-client";

/** The outcomes that are counted, as a filter: a list without it has endpoint checks and handshakes too. */
export const COUNTED_OUTCOMES = "handled,duplicate,ignored,refused,failed";

/** Outcomes in the groups of `outcomeCounts`: a chart of forty codes says nothing. All charts and legends have this order. */
export const GROUPS = [
  { name: "handled", label: "Handled", tone: "success" },
  { name: "duplicates", label: "Duplicates", tone: "quiet" },
  { name: "ignored", label: "Ignored", tone: "quiet" },
  { name: "refused", label: "Refused", tone: "refused" },
  { name: "failed", label: "Failed", tone: "failed" },
] as const;

/** The page counts duplicates, in the plural. A filter of the API, and of the query language, is `duplicate`. */
const [COUNTED, FILTERED] = ["duplicates", "duplicate"];

/** The filter of a group, or of an outcome. */
export function filterOf(group: string): string {
  return group === COUNTED ? FILTERED : group;
}

/** The group of a filter that has a group's name. */
export function groupOf(filter: string): string {
  return filter === FILTERED ? COUNTED : filter;
}

/** The callbacks of all groups. */
export function countOfAll(counts: OutcomeCounts): number {
  return GROUPS.reduce((sum, { name }) => sum + counts[name], 0);
}
