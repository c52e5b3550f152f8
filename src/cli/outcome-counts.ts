import { outcomeStatus } from "../domain/index.ts";

/** Requests without an event: the receiver's own to itself, and a platform's question of the address. */
const WITHOUT_EVENT: ReadonlySet<string> = new Set(["endpoint_check", "handshake"]);

/** Outcomes in the five groups that the page shows too, in its order. */
export function outcomeGroups(outcomes: Readonly<Record<string, number>>) {
  const groups = { handled: 0, duplicates: 0, ignored: 0, refused: 0, failed: 0 };
  for (const [outcome, count] of Object.entries(outcomes))
    if (!WITHOUT_EVENT.has(outcome)) groups[groupOf(outcome)] += count;
  // An accepted event whose first attempt failed, or was rejected, is counted a second time then.
  const { accepted_failed = 0, accepted_rejected = 0 } = outcomes;
  return { ...groups, handled: Math.max(0, groups.handled - accepted_failed - accepted_rejected) };
}

function groupOf(outcome: string) {
  if (outcome === "success" || outcome === "accepted") return "handled";
  if (outcome === "already_processed") return "duplicates";
  if (outcome === "ignored") return "ignored";
  return outcomeStatus(outcome) >= 500 || outcome === "accepted_failed" ? "failed" : "refused";
}

/** Such as `12 handled, 1 duplicate, 3 refused`; groups without a callback are left out. */
export function outcomesText(outcomes: Readonly<Record<string, number>>): string {
  const groups = Object.entries(outcomeGroups(outcomes)).filter(([, count]) => count > 0);
  const named = groups.map(([name, count]) => `${count} ${count === 1 && name === "duplicates" ? "duplicate" : name}`);
  return named.join(", ") || "no callback";
}
