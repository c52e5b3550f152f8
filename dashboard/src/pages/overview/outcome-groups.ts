import { outcomeStatus } from "oncehook/admin-client";
import type { Bucket } from "../../views.ts";

type Outcomes = Bucket["outcomes"];

/** Outcomes in five groups: a chart of forty codes says nothing. */
export interface Groups {
  readonly handled: number;
  readonly duplicates: number;
  readonly ignored: number;
  readonly refused: number;
  readonly failed: number;
}

/** Requests without an event: the receiver's own to itself, and a platform's question of the address. */
const WITHOUT_EVENT = new Set(["endpoint_check", "handshake"]);

export const GROUPS = [
  { name: "handled", label: "Handled", color: "green.7" },
  { name: "duplicates", label: "Duplicates", color: "gray.6" },
  { name: "ignored", label: "Ignored", color: "blue.6" },
  { name: "refused", label: "Refused", color: "orange.7" },
  { name: "failed", label: "Failed", color: "red.7" },
] as const;

export function groupsOf(outcomes: Outcomes): Groups {
  const groups = { handled: 0, duplicates: 0, ignored: 0, refused: 0, failed: 0 };
  for (const [outcome, count] of Object.entries(outcomes))
    if (!WITHOUT_EVENT.has(outcome)) groups[groupOf(outcome)] += count;
  // An accepted event whose first attempt failed, or was rejected, is counted a second time then.
  const { accepted_failed = 0, accepted_rejected = 0 } = outcomes;
  return { ...groups, handled: Math.max(0, groups.handled - accepted_failed - accepted_rejected) };
}

function groupOf(outcome: string): keyof Groups {
  if (outcome === "success" || outcome === "accepted") return "handled";
  if (outcome === "already_processed") return "duplicates";
  if (outcome === "ignored") return "ignored";
  // The response of an accepted event was 202 or the like: its first attempt failed afterwards.
  return outcomeStatus(outcome) >= 500 || outcome === "accepted_failed" ? "failed" : "refused";
}
