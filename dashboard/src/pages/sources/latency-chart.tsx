import type { SourceHistoryView } from "oncehook/admin-client";
import { memo, useState } from "react";
import { secondsText } from "../../parts/amount.ts";
import { PeriodLinks } from "../../parts/period-links.tsx";
import { periodLabel, SPAN_TEXT, TICK_EVERY } from "../../parts/periods.ts";
import { Rows } from "../../parts/rows.tsx";
import { milliseconds, Time } from "../../parts/time.tsx";
import { type TimeZone, useTimeZone } from "../../parts/time-zone.tsx";
import { latencyScale, QUANTILES, stepPath } from "./latency-scale.ts";

const COUNT = new Intl.NumberFormat();

type Bucket = SourceHistoryView["buckets"][number];

/** p50, p95 and p99 by period against the deadline. Each period leads to its callbacks. */
export function LatencyChart({ history }: { readonly history: SourceHistoryView }) {
  const { buckets, span, totals } = history;
  const [pointed, setPointed] = useState<number>();
  const zone = useTimeZone();
  const bucket = pointed === undefined ? undefined : buckets[pointed];
  return (
    <>
      <ul className="legend" aria-label="Legend">
        {QUANTILES.map(({ name, label }) => (
          <li
            key={name}
            data-quantile={name}
            data-drawn={name !== "p95_ms" || buckets.some(({ p95_ms, p99_ms }) => p95_ms !== p99_ms)}
            title={name === "p95_ms" ? "Drawn where it differs from p99" : undefined}
          >
            {label} <strong>{milliseconds((bucket ?? totals)[name])}</strong>
          </li>
        ))}
        <li className="legend-count">
          {callbacksText((bucket ?? totals).callbacks)}{" "}
          <span className="quiet" title="Estimated from counts by latency; none is above the highest one">
            {bucket === undefined ? `in ${SPAN_TEXT[span]}` : `at ${periodLabel(bucket.at, span, zone)}`}
          </span>
        </li>
      </ul>
      <Plot history={history} zone={zone} point={setPointed} />
      <div className="ticks" aria-hidden="true">
        {buckets.map(({ at }, index) => (
          <span key={at} data-second={index % (2 * TICK_EVERY[span]) === 0 ? undefined : true}>
            {index % TICK_EVERY[span] === 0 && periodLabel(at, span, zone)}
          </span>
        ))}
        <b className="ticks-now">now</b>
      </div>
      <details>
        <summary>Show as table</summary>
        <BucketRows buckets={buckets} />
      </details>
    </>
  );
}

interface PlotProps {
  readonly history: SourceHistoryView;
  readonly zone: TimeZone;
  /** Called with the place of the period under the pointer or the focus. */
  readonly point: (index: number | undefined) => void;
}

/** It is drawn again with new numbers, and not with each move of the pointer. */
const Plot = memo(function Plot({ history, zone, point }: PlotProps) {
  const { source, buckets, span, step_seconds, deadline_ms } = history;
  const scale = latencyScale(buckets, deadline_ms);
  return (
    <div className="latency-chart">
      {scale.decades.map((ms) => (
        <span key={ms} className="decade" style={{ insetBlockStart: `${scale.topOf(ms)}%` }} aria-hidden="true">
          <span className="decade-label">{secondsText(ms)}</span>
        </span>
      ))}
      <PeriodLinks
        label="Latency over time"
        className="periods"
        linkClassName="period"
        {...{ buckets, span, zone, textOf, point }}
        stepSeconds={step_seconds}
        search={{ source }}
        isLate={(bucket) => isLate(bucket, deadline_ms)}
      />
      <svg viewBox={`0 0 ${buckets.length} 100`} preserveAspectRatio="none" aria-hidden="true">
        {QUANTILES.map(({ name }) => (
          <path key={name} data-quantile={name} d={stepPath(buckets, name, scale)} />
        ))}
      </svg>
      {deadline_ms !== null && (
        <span className="deadline-line" style={{ insetBlockStart: `${scale.topOf(deadline_ms)}%` }}>
          <span className="deadline-label">Deadline {secondsText(deadline_ms)}</span>
        </span>
      )}
    </div>
  );
});

function isLate({ p99_ms }: Bucket, deadlineMs: number | null): boolean {
  return deadlineMs !== null && p99_ms !== null && p99_ms > deadlineMs;
}

function textOf(bucket: Bucket): string {
  if (bucket.callbacks === 0) return "no callback";
  const latency = QUANTILES.map(({ name, label }) => `${label} ${milliseconds(bucket[name])}`);
  return [...latency, callbacksText(bucket.callbacks)].join(", ");
}

function callbacksText(count: number): string {
  return `${COUNT.format(count)} ${count === 1 ? "callback" : "callbacks"}`;
}

function BucketRows({ buckets }: { readonly buckets: readonly Bucket[] }) {
  const columns = [
    { head: "Start", cell: ({ at }: Bucket) => <Time at={at} /> },
    { head: "Callbacks", cell: ({ callbacks }: Bucket) => COUNT.format(callbacks) },
    ...QUANTILES.map(({ name, label }) => ({ head: label, cell: (bucket: Bucket) => milliseconds(bucket[name]) })),
  ];
  const rows = buckets.filter(({ callbacks }) => callbacks > 0);
  return <Rows caption="Latency over time" columns={columns} rows={rows} keyOf={({ at }) => at} />;
}
