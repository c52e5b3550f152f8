import type { Bucket } from "../../views.ts";

type Outcomes = Bucket["outcomes"];

/** Outcomes in four groups: a chart of forty codes says nothing. */
export interface Groups {
  readonly handled: number;
  readonly duplicates: number;
  readonly refused: number;
  readonly failed: number;
}

/** Codes whose response is 5xx (docs/errors.md); every other one is the sender's. */
const FAILED = new Set([
  "handler_failed",
  "handler_timed_out",
  "result_invalid",
  "process_ended",
  "commit_failed",
  "commit_unknown",
  "internal",
  "keys_unavailable",
  "platform_unavailable",
  "prefetch_refused",
  "store_unavailable",
  "overloaded",
  "event_in_progress",
]);

/** The receiver's own request to itself: no callback of a platform. */
const ENDPOINT_CHECK = "endpoint_check";

export const GROUPS = [
  { name: "handled", label: "Handled", color: "green.7" },
  { name: "duplicates", label: "Duplicates", color: "gray.6" },
  { name: "refused", label: "Refused", color: "orange.7" },
  { name: "failed", label: "Failed", color: "red.7" },
] as const;

export function groupsOf(outcomes: Outcomes): Groups {
  const groups = { handled: 0, duplicates: 0, refused: 0, failed: 0 };
  for (const [outcome, count] of Object.entries(outcomes))
    if (outcome !== ENDPOINT_CHECK) groups[groupOf(outcome)] += count;
  return groups;
}

function groupOf(outcome: string): keyof Groups {
  if (outcome === "success") return "handled";
  if (outcome === "already_processed") return "duplicates";
  return FAILED.has(outcome) ? "failed" : "refused";
}
