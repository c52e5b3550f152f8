import type { CallbackView } from "oncehook/admin-client";

/** So many rows are kept above the list; with more, the list is read again and they are in it. */
const MOST_ROWS = 200;

/** What a live stream has told, newest first. */
export interface Heard {
  readonly rows: readonly CallbackView[];
  /** What is not shown yet: all of it while the page is paused. */
  readonly held: readonly CallbackView[];
  /** How many that were, with those that are in `held` no more. */
  readonly heldCount: number;
  /** Whether the list has what is in neither, and must be read again. */
  readonly isBehind: boolean;
  /** While the list is being read again: those that it will have, since they had come before. */
  readonly old: readonly CallbackView[] | undefined;
  /** Whether rows are nowhere to be seen until the list has been read again. */
  readonly hasGap: boolean;
}

export const NOTHING: Heard = {
  rows: [],
  held: [],
  heldCount: 0,
  isBehind: false,
  old: undefined,
  hasGap: false,
};

export function withCallback(was: Heard, callback: CallbackView): Heard {
  const isKnown = ({ id }: CallbackView) => id === callback.id;
  if (was.held.some(isKnown) || was.rows.some(isKnown)) return was;
  const held = [callback, ...was.held];
  return { ...was, ...bounded("held", held), heldCount: was.heldCount + 1 };
}

export function shown(was: Heard): Heard {
  return { ...was, ...bounded("rows", [...was.held, ...was.rows]), held: [], heldCount: 0 };
}

export function behind(was: Heard): Heard {
  return { ...was, isBehind: true };
}

export function reading(was: Heard): Heard {
  return { ...was, isBehind: false, old: was.rows };
}

export function read(was: Heard): Heard {
  const old = new Set(was.old);
  return { ...was, rows: was.rows.filter((row) => !old.has(row)), old: undefined, hasGap: was.isBehind };
}

export function unread(was: Heard): Heard {
  return { ...was, isBehind: true, old: undefined, hasGap: true };
}

function bounded(name: "rows" | "held", rows: readonly CallbackView[]): Partial<Heard> {
  if (rows.length <= MOST_ROWS) return { [name]: rows };
  return { [name]: rows.slice(0, MOST_ROWS), isBehind: true, hasGap: true };
}
