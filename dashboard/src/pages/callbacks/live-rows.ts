import type { CallbackView } from "oncehook/admin-client";

/** Rows above the list; with more, the list is read again and contains them. */
const MAX_ROWS = 200;

/** The callbacks of a live stream, newest first. */
export interface LiveRows {
  readonly rows: readonly CallbackView[];
  /** Not shown yet: while the page is paused, all of them. */
  readonly held: readonly CallbackView[];
  /** The number of held callbacks, also of those that `held` had to drop. */
  readonly heldCount: number;
  /** Whether only the list has some callbacks, and must be read again. */
  readonly isBehind: boolean;
  /** While the list is being read again: the earlier rows, which it will contain. */
  readonly superseded: readonly CallbackView[] | undefined;
  /** Whether callbacks are missing on the page until the list has been read again. */
  readonly hasGap: boolean;
}

export const NO_ROWS: LiveRows = {
  rows: [],
  held: [],
  heldCount: 0,
  isBehind: false,
  superseded: undefined,
  hasGap: false,
};

export function addCallback(was: LiveRows, callback: CallbackView): LiveRows {
  const isKnown = ({ id }: CallbackView) => id === callback.id;
  if (was.held.some(isKnown) || was.rows.some(isKnown)) return was;
  const held = [callback, ...was.held];
  return { ...was, ...bounded("held", held), heldCount: was.heldCount + 1 };
}

export function showHeld(was: LiveRows): LiveRows {
  return { ...was, ...bounded("rows", [...was.held, ...was.rows]), held: [], heldCount: 0 };
}

export function markBehind(was: LiveRows): LiveRows {
  return { ...was, isBehind: true };
}

export function startReading(was: LiveRows): LiveRows {
  return { ...was, isBehind: false, superseded: was.rows };
}

export function finishReading(was: LiveRows): LiveRows {
  const old = new Set(was.superseded);
  return {
    ...was,
    rows: was.rows.filter((row) => !old.has(row)),
    superseded: undefined,
    hasGap: was.isBehind,
  };
}

export function failReading(was: LiveRows): LiveRows {
  return { ...was, isBehind: true, superseded: undefined, hasGap: true };
}

function bounded(name: "rows" | "held", rows: readonly CallbackView[]): Partial<LiveRows> {
  if (rows.length <= MAX_ROWS) return { [name]: rows };
  return { [name]: rows.slice(0, MAX_ROWS), isBehind: true, hasGap: true };
}
