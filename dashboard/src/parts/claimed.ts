import { type CallbackRowView, isVerified } from "oncehook/admin-client";

export interface Claimed {
  readonly id: string | undefined;
  readonly type: string | undefined;
  /** Whether anyone may have written them. */
  readonly isUnverified: boolean;
}

/**
 * The id and type that a callback without an event of its own claims. The callback of several handlers is one: it is
 * authentic, and each handler's run has its own row.
 */
export function claimedBy({ claimed, outcome }: Pick<CallbackRowView, "claimed" | "outcome">): Claimed {
  const { event_id, event_type } = claimed ?? {};
  return { id: event_id ?? undefined, type: event_type ?? undefined, isUnverified: !isVerified(outcome) };
}
