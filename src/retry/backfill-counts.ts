import { withoutTenant } from "../domain/index.ts";
import type { BackfillCounts } from "../store/index.ts";
import type { BackfillResult } from "./backfill-events.ts";

/** Further types share one entry: a platform may send any number of them. */
const MOST_NAMES = 200;
const OTHERS = "(others)";

export function withResult(counts: BackfillCounts, result: BackfillResult): BackfillCounts {
  switch (result.kind) {
    case "accepted": {
      const acceptedByType = oneMore(counts.acceptedByType, result.target.eventType);
      return { ...counts, accepted: counts.accepted + 1, acceptedByType };
    }
    case "ignored":
      return { ...counts, ignored: counts.ignored + 1, ignoredByType: oneMore(counts.ignoredByType, result.type) };
    case "heldBack": {
      const heldBackByHandler = oneMore(counts.heldBackByHandler, withoutTenant(result.handler));
      return { ...counts, heldBack: counts.heldBack + 1, heldBackByHandler };
    }
    default:
      return { ...counts, [result.kind]: counts[result.kind] + 1 };
  }
}

function oneMore(counts: Readonly<Record<string, number>>, name: string): Readonly<Record<string, number>> {
  const key = Object.hasOwn(counts, name) || Object.keys(counts).length < MOST_NAMES ? name : OTHERS;
  return { ...counts, [key]: (Object.hasOwn(counts, key) ? (counts[key] as number) : 0) + 1 };
}
