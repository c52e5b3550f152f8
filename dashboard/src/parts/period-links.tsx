import type { ReactNode } from "react";
import type { Span } from "../views.ts";
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

/** The periods of a chart. Each leads to its callbacks, and the arrow keys go through them. */
export function PeriodLinks<Bucket extends { readonly at: string }>(props: Props<Bucket>) {
  const { label, className, linkClassName, buckets, span, stepSeconds, zone, search, textOf, isLate, point } = props;
  return (
    // biome-ignore lint/a11y/useSemanticElements: the periods are links, and the arrow keys go through them.
    <div className={className} role="group" aria-label={label} onKeyDown={moveFocus}>
      {buckets.map((bucket, index) => (
        <PageLink
          key={bucket.at}
          to="/activity"
          search={{ ...search, ...rangeOf(bucket.at, stepSeconds) }}
          underline="never"
          tabIndex={index === buckets.length - 1 ? 0 : -1}
          className={linkClassName}
          data-late={isLate?.(bucket)}
          aria-label={`${periodLabel(bucket.at, span, zone)}: ${textOf(bucket)}`}
          onPointerEnter={() => point(index)}
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
