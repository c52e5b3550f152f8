import type { CallbackView } from "oncehook/admin-client";

/** So many rows are kept above the list; with more, the list is read again and they are in it. */
const MAX_ROWS = 200;

/** What a live stream has told, newest first. */
export interface LiveRows {
  readonly rows: readonly CallbackView[];
  /** What is not shown yet: all of it while the page is paused. */
  readonly held: readonly CallbackView[];
  /** How many that were, with those that are in `held` no more. */
  readonly heldCount: number;
  /** Whether the list has what is in neither, and must be read again. */
  readonly isBehind: boolean;
  /** While the list is being read again: those that it will have, since they had come before. */
  readonly superseded: readonly CallbackView[] | undefined;
  /** Whether rows are nowhere to be seen until the list has been read again. */
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
