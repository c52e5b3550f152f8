import type { CallbackRowView } from "oncehook/admin-client";

export interface Claimed {
  readonly id: string | undefined;
  readonly type: string | undefined;
}

/** The id and type that an unauthenticated callback claims. Anyone may have written them. */
export function claimedBy({ claimed }: Pick<CallbackRowView, "claimed">): Claimed {
  return { id: claimed?.event_id ?? undefined, type: claimed?.event_type ?? undefined };
}
