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
  return outcomeStatus(outcome) >= 500 ? "failed" : "refused";
}

export function outcomesOfGroup(group: OutcomeGroup): readonly string[] {
  return OUTCOMES.filter((outcome) => outcomeGroup(outcome) === group);
}
