import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { Span } from "../views.ts";
import { COUNTED_OUTCOMES } from "./outcome-groups.ts";
import { PageLink } from "./page-link.tsx";
import { moveFocus, periodLabel, rangeOf } from "./periods.ts";
import type { TimeZone } from "./time-zone.tsx";
import "./chart.css";

interface Props<Bucket> {
  readonly label: string;
  readonly className: string;
  /** Of each link. */
  readonly linkClassName: string;
  readonly buckets: readonly Bucket[];
  readonly span: Span;
  readonly stepSeconds: number;
  readonly zone: TimeZone;
  /** Filters beside the times. */
  readonly search?: { readonly source: string };
  /** The words of a link behind its time. */
  readonly textOf: (bucket: Bucket) => string;
  readonly isLate?: (bucket: Bucket) => boolean;
  /** Called with the place of the period under the pointer or the focus. */
  readonly point: (index: number | undefined) => void;
  readonly children?: (index: number) => ReactNode;
}

/**
 * The periods of a chart. Each leads to its callbacks, and the arrow keys go through them. A mouse that is drawn over
 * several opens the callbacks of all of them.
 */
export function PeriodLinks<Bucket extends { readonly at: string }>(props: Props<Bucket>) {
  const { label, className, linkClassName, buckets, span, stepSeconds, zone, search, textOf, isLate, point } = props;
  /** The period in which the mouse was pressed, and the one under it now. */
  const [drawn, setDrawn] = useState<readonly [start: number, end: number]>();
  const [first = NaN, last = NaN] = drawn?.toSorted((one, other) => one - other) ?? [];
  const filters = { ...search, outcome: COUNTED_OUTCOMES };
  const navigate = useNavigate();
  const openDrawn = () => {
    setDrawn(undefined);
    const [from, to] = [buckets[first]?.at, buckets[last]?.at];
    if (from === undefined || to === undefined || from === to) return;
    void navigate({ to: "/activity", search: { ...filters, from, to: rangeOf(to, stepSeconds).to } });
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: the periods are links, and the arrow keys go through them.
    <div
      className={className}
      role="group"
      aria-label={label}
      onKeyDown={moveFocus}
      onPointerUp={openDrawn}
      onPointerLeave={() => setDrawn(undefined)}
    >
      {buckets.map((bucket, index) => (
        <PageLink
          key={bucket.at}
          to="/activity"
          search={{ ...filters, ...rangeOf(bucket.at, stepSeconds) }}
          underline="never"
          tabIndex={index === buckets.length - 1 ? 0 : -1}
          className={linkClassName}
          data-late={isLate?.(bucket)}
          data-drawn={(index >= first && index <= last) || undefined}
          draggable={false}
          aria-label={`${periodLabel(bucket.at, span, zone)}: ${textOf(bucket)}`}
          onPointerDown={({ button, pointerType }) => {
            if (button === 0 && pointerType === "mouse") setDrawn([index, index]);
          }}
          onPointerEnter={() => {
            point(index);
            setDrawn((before) => before && [before[0], index]);
          }}
          onPointerLeave={() => point(undefined)}
          onFocus={() => point(index)}
          onBlur={() => point(undefined)}
        >
          {props.children?.(index)}
        </PageLink>
      ))}
    </div>
  );
}
