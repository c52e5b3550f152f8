import type { ProblemView } from "oncehook/admin-client";
import { outcomeTitle, type Tone } from "../../parts/outcome.ts";
import { plain } from "../../parts/plain-message.ts";

type Named = Pick<ProblemView, "kind" | "source" | "event_type" | "title" | "code" | "states" | "count">;

/** The outcome of a problem's events, in a word and its colour. */
export function problemOutcome({ kind, count, states }: Named): { readonly label: string; readonly tone: Tone } {
  if (kind === "refusal") return { label: "refused", tone: "refused" };
  if (kind === "delivery") return { label: "not delivered", tone: "failed" };
  if (count > 0 && states.rejected === count) return { label: "rejected", tone: "refused" };
  return { label: "failed", tone: "failed" };
}

/** The failed thing, and the reason. The title repeats the source, which has a column, and the outcome. */
export function problemCause({ kind, source, event_type, title, code }: Named): {
  readonly what: string;
  readonly why: string;
} {
  if (kind === "refusal") {
    const rest = plain(title.slice(title.indexOf(REFUSED) + REFUSED.length));
    return { what: outcomeTitle(code), why: rest.charAt(0).toUpperCase() + rest.slice(1) };
  }
  const start = title.indexOf(": ", title.indexOf(source) + source.length);
  const why = start === -1 ? title : title.slice(start + 2);
  return { what: kind === "delivery" ? "Notifications" : event_type || "Unread callbacks", why: plain(why) };
}

/** Before it a title has the count and the outcome. */
const REFUSED = "), ";

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
