// biome-ignore-all lint/a11y/useSemanticElements: rows with positions of their own are no table to a browser.
import { useMediaQuery } from "@mantine/hooks";
import type { CallbackRowView } from "oncehook/admin-client";
import { type KeyboardEvent, type ReactNode, type Ref, useEffect, useImperativeHandle, useRef, useState } from "react";
import { useTimeZone } from "../../parts/time-zone.tsx";
import { ActivityRow } from "./activity-row.tsx";

const WIDE = "(min-width: 62em)";
/** In pixels, as the style sheet has them. */
const ROW_HEIGHT = { wide: 32, narrow: 52 };
/** Rows above and below the visible ones, so that scrolling shows no hole. */
const SPARE_ROWS = 12;
/** So near to its end, in rows, the list is read on. */
const READ_ON_AT = 30;
const HEADS = ["Time", "Source", "Type", "Outcome", "Status and reason", "Event", "Duration"];

export interface ActivityListHandle {
  scrollToTop(): void;
  /** Moves the focus to a row and brings it into view. */
  focusRow(index: number): void;
}

interface Props {
  readonly ref: Ref<ActivityListHandle>;
  readonly rows: readonly CallbackRowView[];
  readonly openId: number | undefined;
  readonly searched: string | undefined;
  readonly open: (callback: CallbackRowView) => void;
  readonly readOn: () => void;
  /** Below the last row. */
  readonly end: ReactNode;
}

/** A list that draws only the rows in view: 1,500 callbacks cost no more than thirty. */
export function ActivityList({ ref, rows, openId, searched, open, readOn, end }: Props) {
  const zone = useTimeZone();
  const height = (useMediaQuery(WIDE, window.matchMedia(WIDE).matches) ?? true) ? ROW_HEIGHT.wide : ROW_HEIGHT.narrow;
  const { viewport, first, last } = useVisibleRows(height, rows.length);
  const wanted = useRef<number>(undefined);
  useEffect(() => {
    if (last > rows.length - READ_ON_AT) readOn();
  }, [last, rows.length, readOn]);
  const focusRow = (index: number) => {
    const element = viewport.current;
    const row = Math.min(Math.max(index, 0), rows.length - 1);
    if (element === null || row < 0) return;
    keepInView(element, row, height);
    wanted.current = row;
    focusDrawn(element, row);
  };
  // A row that scrolled into view is drawn a moment later.
  useEffect(() => {
    if (wanted.current !== undefined && viewport.current !== null) focusDrawn(viewport.current, wanted.current);
  });
  useImperativeHandle(ref, () => ({ scrollToTop: () => viewport.current?.scrollTo({ top: 0 }), focusRow }));
  const onKeyDown = (event: KeyboardEvent) => {
    const index = indexOf(event.target);
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      return focusRow(index === undefined ? 0 : index + (event.key === "ArrowDown" ? 1 : -1));
    }
    const row = index === undefined ? undefined : rows[index];
    if (row !== undefined && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      open(row);
    }
  };
  return (
    <div className="activity-list" ref={viewport}>
      <div
        role="grid"
        aria-label="Callbacks, newest first"
        aria-rowcount={rows.length + 1}
        // The arrow keys move through its rows.
        tabIndex={0}
        onKeyDown={onKeyDown}
        onClick={({ target }) => {
          const row = rows[indexOf(target) ?? -1];
          if (row !== undefined && window.getSelection()?.isCollapsed !== false) open(row);
        }}
      >
        <div role="row" className="activity-head" aria-rowindex={1} tabIndex={-1}>
          {HEADS.map((head) => (
            <span key={head} role="columnheader" tabIndex={undefined}>
              {head}
            </span>
          ))}
        </div>
        <div role="rowgroup" className="activity-rows" style={{ height: rows.length * height }}>
          {rows.slice(first, last).map((callback, offset) => (
            <ActivityRow
              key={callback.id}
              callback={callback}
              index={first + offset}
              top={(first + offset) * height}
              zone={zone}
              isOpen={callback.id === openId}
              searched={searched}
            />
          ))}
        </div>
      </div>
      {end}
    </div>
  );
}

/** The place of the row that an event came from. */
function indexOf(target: EventTarget): number | undefined {
  const index = (target as HTMLElement).closest<HTMLElement>("[data-index]")?.dataset.index;
  return index === undefined ? undefined : Number(index);
}

/** The rows that are in view, and some around them. */
function useVisibleRows(height: number, count: number) {
  const viewport = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ first: 0, last: 60 });
  useEffect(() => {
    const element = viewport.current;
    if (element === null) return;
    const measure = () => {
      const first = Math.max(0, Math.floor(element.scrollTop / height) - SPARE_ROWS);
      const last = first + Math.ceil(element.clientHeight / height) + 2 * SPARE_ROWS;
      setView((was) => (was.first === first && was.last === last ? was : { first, last }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener("scroll", measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, [height]);
  return { viewport, first: Math.min(view.first, count), last: Math.min(view.last, count) };
}

/** The head of the list covers its first row's height. */
function keepInView(element: HTMLElement, row: number, height: number): void {
  const [top, bottom] = [row * height, (row + 2) * height];
  if (top < element.scrollTop) element.scrollTop = top;
  else if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight;
}

function focusDrawn(element: HTMLElement, row: number): void {
  element.querySelector<HTMLElement>(`[data-index="${row}"]`)?.focus({ preventScroll: true });
}
