// biome-ignore-all lint/a11y/useSemanticElements: rows with positions of their own are no table to a browser.
import "./row-list.css";
import { useMediaQuery } from "@mantine/hooks";
import { type KeyboardEvent, type ReactNode, type Ref, useEffect, useImperativeHandle, useRef, useState } from "react";

const LIST_ID = "list";
const WIDE = "(min-width: 62em)";
/** In pixels, as the style sheet has them. */
const ROW_HEIGHT = { wide: 32, narrow: 52 };
/** Rows above and below the visible ones, so that scrolling shows no hole. */
const SPARE_ROWS = 12;
/** So near to its end, in rows, the list is read on. */
const READ_ON_AT = 30;

export interface RowListHandle {
  scrollToTop(): void;
  /** Moves the focus to a row and brings it into view. */
  focusRow(index: number): void;
}

/** The place of a row in its list. */
export interface RowPlace {
  /** From 0. */
  readonly index: number;
  /** In pixels. */
  readonly top: number;
}

interface Props<Row> {
  readonly ref: Ref<RowListHandle>;
  /** Its name, for screen readers. */
  readonly label: string;
  /** The style sheet has its columns under this class. */
  readonly className: string;
  readonly heads: readonly string[];
  /** The height of a row on a telephone, as its style sheet has it. */
  readonly narrowHeight?: number;
  readonly rows: readonly Row[];
  readonly open: (row: Row) => void;
  /** Reads more, near the end of the rows. */
  readonly readOn?: () => void;
  /** Below the last row. */
  readonly end?: ReactNode;
  readonly children: (row: Row, place: RowPlace) => ReactNode;
}

/** A list that draws only the rows in view: 1,500 of them cost no more than thirty. */
export function RowList<Row>({ ref, label, className, heads, rows, open, readOn, end, children, ...look }: Props<Row>) {
  const { narrowHeight = ROW_HEIGHT.narrow } = look;
  const height = useIsWide() ? ROW_HEIGHT.wide : narrowHeight;
  const { viewport, first, last } = useVisibleRows(height, rows.length);
  const wanted = useRef<number>(undefined);
  useEffect(() => {
    if (last > rows.length - READ_ON_AT) readOn?.();
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
    if (isOfControl(event.target)) return;
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
    <div className={`row-list ${className}`} ref={viewport}>
      <div
        role="grid"
        id={LIST_ID}
        aria-label={label}
        aria-rowcount={rows.length + 1}
        // The arrow keys move through its rows.
        tabIndex={0}
        onKeyDown={onKeyDown}
        onClick={({ target }) => {
          const row = isOfControl(target) ? undefined : rows[indexOf(target) ?? -1];
          if (row !== undefined && window.getSelection()?.isCollapsed !== false) open(row);
        }}
      >
        <div role="row" className="list-head" aria-rowindex={1} tabIndex={-1}>
          {heads.map((head) => (
            <span key={head} role="columnheader" tabIndex={undefined}>
              {head}
            </span>
          ))}
        </div>
        <div role="rowgroup" className="list-rows" style={{ height: rows.length * height }}>
          {rows
            .slice(first, last)
            .map((row, offset) => children(row, { index: first + offset, top: (first + offset) * height }))}
        </div>
      </div>
      {end}
    </div>
  );
}

/** Whether a row is one line; on a telephone it has several. */
export function useIsWide(): boolean {
  return useMediaQuery(WIDE, window.matchMedia(WIDE).matches) ?? true;
}

/** Before the filters of a list, of which there are many. */
export function SkipToList() {
  return (
    <a className="skip-link" href={`#${LIST_ID}`}>
      Skip to the list
    </a>
  );
}

interface ListRowProps extends RowPlace {
  readonly id: string | number;
  readonly className: string;
  readonly isOpen: boolean;
  readonly children: ReactNode;
}

/** One row. The list has the listeners, so that a row costs no more than its text. */
export function ListRow({ id, index, top, className, isOpen, children }: ListRowProps) {
  return (
    <div
      role="row"
      className={`list-row ${className}`}
      aria-rowindex={index + 2}
      aria-selected={isOpen}
      tabIndex={-1}
      data-id={id}
      data-index={index}
      style={{ transform: `translateY(${top}px)` }}
    >
      {children}
    </div>
  );
}

interface CellProps {
  readonly name: string;
  /** All of a text that the cell may cut. */
  readonly title?: string | undefined;
  readonly children?: ReactNode;
}

export function Cell({ name, title, children }: CellProps) {
  return (
    <span role="gridcell" className={`cell-${name}`} title={title} tabIndex={undefined}>
      {children}
    </span>
  );
}

/** The place of the row that an event came from. */
function indexOf(target: EventTarget): number | undefined {
  const index = (target as HTMLElement).closest<HTMLElement>("[data-index]")?.dataset.index;
  return index === undefined ? undefined : Number(index);
}

/** Whether an event belongs to a button or link in a row, or to a form that it opened. */
function isOfControl(target: EventTarget): boolean {
  return (target as HTMLElement).closest("button, a, [role=dialog], [role=menu]") !== null;
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
