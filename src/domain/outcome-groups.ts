import { OUTCOMES } from "./callback-log.ts";
import { outcomeStatus } from "./faults.ts";

export const OUTCOME_GROUPS = ["handled", "duplicate", "ignored", "refused", "failed"] as const;
export type OutcomeGroup = (typeof OUTCOME_GROUPS)[number];

/** The group of an outcome; undefined for requests without an event: an endpoint check and a handshake. */
export function outcomeGroup(outcome: string): OutcomeGroup | undefined {
  if (outcome === "endpoint_check" || outcome === "handshake") return undefined;
  if (outcome === "success" || outcome === "accepted") return "handled";
  if (outcome === "already_processed") return "duplicate";
  if (outcome === "ignored") return "ignored";
  // The response of an accepted event was a success: its first attempt failed afterwards.
  return outcomeStatus(outcome) >= 500 || outcome === "accepted_failed" ? "failed" : "refused";
}

export function outcomesOfGroup(group: OutcomeGroup): readonly string[] {
  return OUTCOMES.filter((outcome) => outcomeGroup(outcome) === group);
}

/** How many callbacks ended in each group. */
export interface OutcomeCounts {
  readonly handled: number;
  readonly duplicates: number;
  readonly ignored: number;
  readonly refused: number;
  readonly failed: number;
}

/** @param outcomes how many callbacks had each; `accepted_failed` and `accepted_rejected` count some of them again */
export function outcomeCounts(outcomes: Readonly<Record<string, number>>): OutcomeCounts {
  const counts = { handled: 0, duplicate: 0, ignored: 0, refused: 0, failed: 0 };
  for (const [outcome, count] of Object.entries(outcomes)) {
    const group = outcomeGroup(outcome);
    if (group !== undefined) counts[group] += count;
  }
  const { handled, duplicate: duplicates, ignored, refused, failed } = counts;
  const { accepted_failed = 0, accepted_rejected = 0 } = outcomes;
  return { handled: Math.max(0, handled - accepted_failed - accepted_rejected), duplicates, ignored, refused, failed };
}
