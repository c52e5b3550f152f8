import type { SeenCredential, StoredAlert } from "../store/index.ts";
import type { OverviewView } from "./overview-shapes.ts";

/** How things stand. */
export interface Concerns {
  readonly failures: Readonly<Record<"waiting" | "exhausted", number>>;
  readonly notifications: Readonly<Record<"waiting" | "dead", number>>;
  /** The open ones. */
  readonly alerts: readonly StoredAlert[];
  readonly credentials: readonly SeenCredential[];
}

const DAY_MS = 86_400_000;

/** What will not get well by itself, the most urgent first. */
export function needsAPerson(
  { failures, notifications, alerts, credentials }: Concerns,
  now: Date,
): OverviewView["needs_a_person"] {
  const previous = credentials.filter((one) => isPreviousInUse(one, now)).length;
  const found = [
    {
      what: "open_alert",
      count: alerts.length,
      says: `${several(alerts.length, "alert is", "alerts are")} open: callbacks fail, are refused, or have stopped coming.`,
    },
    {
      what: "exhausted_failures",
      count: failures.exhausted,
      says: `${several(failures.exhausted, "event has", "events have")} failed at every attempt: replay or discard.`,
    },
    {
      what: "dead_notifications",
      count: notifications.dead,
      says: `${several(notifications.dead, "delivery", "deliveries")} of notifications could not be made: replay or discard.`,
    },
    {
      what: "previous_secret_in_use",
      count: previous,
      says: `Callbacks of the last day came with ${several(previous, "previous secret", "previous secrets")}: the platform does not have the new one yet.`,
    },
  ];
  return found.filter(({ count }) => count > 0);
}

function isPreviousInUse({ previousSince, lastUsedAt }: SeenCredential, now: Date): boolean {
  if (previousSince === null || lastUsedAt === null) return false;
  return lastUsedAt > previousSince && now.getTime() - Date.parse(lastUsedAt) < DAY_MS;
}

function several(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
