import { type RefObject, useEffect, useRef } from "react";
import { isTyping } from "./is-typing.ts";
import type { RowListHandle } from "./row-list.tsx";

interface Keys<Row> {
  readonly rows: readonly Row[];
  /** The id of the open row, as the address has it. */
  readonly open: string | undefined;
  readonly openRow: (row: Row) => void;
  readonly close: () => void;
  readonly handle: RefObject<RowListHandle | null>;
}

/** `j` and `k` go to the next and the previous row, in the open panel too; Escape closes it. */
export function useListKeys<Row extends { readonly id: string | number }>(keys: Keys<Row>): void {
  const newest = useRef(keys);
  newest.current = keys;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || isOfDialog(event)) return;
      const { rows, open, openRow, close, handle } = newest.current;
      const openIndex = rows.findIndex(({ id }) => String(id) === open);
      if (event.key === "Escape" && open !== undefined) {
        close();
        handle.current?.focusRow(openIndex);
      }
      if (event.key !== "j" && event.key !== "k") return;
      const focused = (document.activeElement as HTMLElement | null)?.dataset.index;
      const from = open === undefined ? Number(focused ?? -1) : openIndex;
      const next = Math.min(Math.max(from + (event.key === "j" ? 1 : -1), 0), rows.length - 1);
      handle.current?.focusRow(next);
      const row = rows[next];
      if (open !== undefined && row !== undefined) openRow(row);
    };
    // Before a dialog closes at the same key.
    window.addEventListener("keydown", onKeyDown, true);
    return () => window.removeEventListener("keydown", onKeyDown, true);
  }, []);
}

const DIALOG = "[role=dialog], [role=menu]";

/**
 * Keys are a dialog's while it is open, wherever the focus is: one that opens takes it a moment later. One that this key
 * has just closed is gone from the page already where nothing moves.
 */
function isOfDialog({ target }: KeyboardEvent): boolean {
  return document.querySelector(DIALOG) !== null || (target instanceof Element && target.closest(DIALOG) !== null);
}
