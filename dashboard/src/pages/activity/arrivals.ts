import type { CallbackRowView } from "oncehook/admin-client";

/** With more rows above the list, the list is read again and contains them. */
const MAX_ROWS = 1_000;

/** Callbacks that have arrived since the list was read, newest first. */
export interface Arrivals {
  /** Above the list, because the reader asked for them. */
  readonly shown: readonly CallbackRowView[];
  /** Not shown yet, so that no row moves under the reader. */
  readonly held: readonly CallbackRowView[];
  /** Whether the receiver has more of them than are held: the list must be read again to show all. */
  readonly isBehind: boolean;
}

export const NO_ARRIVALS: Arrivals = { shown: [], held: [], isBehind: false };

type Action =
  | { readonly type: "arrive"; readonly callbacks: readonly CallbackRowView[]; readonly hasGap?: boolean }
  | { readonly type: "show" }
  | { readonly type: "clear" };

export function arrivalsReducer(was: Arrivals, action: Action): Arrivals {
  if (action.type === "clear") return was === NO_ARRIVALS ? was : NO_ARRIVALS;
  if (action.type === "show") return { ...was, shown: [...was.held, ...was.shown], held: [] };
  const known = new Set([...was.held, ...was.shown].map(({ id }) => id));
  const fresh = action.callbacks.filter(({ id }) => !known.has(id));
  if (fresh.length === 0 && action.hasGap !== true) return was;
  const held = [...fresh, ...was.held].sort((one, other) => other.id - one.id);
  const isTooLong = held.length + was.shown.length > MAX_ROWS;
  return {
    ...was,
    held: held.slice(0, MAX_ROWS),
    isBehind: was.isBehind || isTooLong || action.hasGap === true,
  };
}
