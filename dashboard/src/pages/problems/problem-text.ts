import type { ProblemView } from "oncehook/admin-client";
import type { Tone } from "../../parts/outcome.ts";

type Named = Pick<ProblemView, "kind" | "states" | "count">;

/** The outcome of a problem's events, in a word and its colour. */
export function problemOutcome({ kind, count, states }: Named): { readonly label: string; readonly tone: Tone } {
  if (kind === "refusal") return { label: "refused", tone: "refused" };
  if (kind === "delivery") return { label: "not delivered", tone: "failed" };
  if (count > 0 && states.rejected === count) return { label: "rejected", tone: "refused" };
  return { label: "failed", tone: "failed" };
}

const NOUNS = {
  failure: ["event", "events"],
  refusal: ["callback", "callbacks"],
  delivery: ["delivery", "deliveries"],
} as const;

/** Its events in words, such as `41 events`. */
export function problemEvents(problem: Pick<ProblemView, "kind" | "count" | "at_least">): string {
  return `${countText(problem)} ${NOUNS[problem.kind][problem.count === 1 ? 0 : 1]}`;
}

/** Such as `1,250,000+`, where not all were counted. */
export function countText({ count, at_least }: Pick<ProblemView, "count" | "at_least">): string {
  return `${COUNT.format(count)}${at_least ? "+" : ""}`;
}

/** The number of a button is exact: where not all were counted, it has none. @param verb such as `Replay` */
export function allOf(verb: string, { count, at_least }: Pick<ProblemView, "count" | "at_least">): string {
  if (at_least) return `${verb} all`;
  return count === 1 ? `${verb} 1` : `${verb} all ${COUNT.format(count)}`;
}

/** The states of bulk replays and backfills. */
export const WORK_STATES = { running: "Running", paused: "Paused", cancelled: "Cancelled", done: "Done" } as const;

export const COUNT = new Intl.NumberFormat();
