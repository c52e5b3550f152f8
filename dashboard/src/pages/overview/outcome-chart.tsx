import { type OverviewView, outcomeCounts } from "oncehook/admin-client";
import { useState } from "react";
import { Figure } from "../../parts/figure.tsx";
import { countOfAll, GROUPS } from "../../parts/outcome-groups.ts";
import { PeriodLinks } from "../../parts/period-links.tsx";
import { periodLabel, rangeOf, TICK_EVERY } from "../../parts/periods.ts";
import { Rows } from "../../parts/rows.tsx";
import { milliseconds, Time } from "../../parts/time.tsx";
import { useTimeZone } from "../../parts/time-zone.tsx";
import type { Bucket } from "../../views.ts";

const COUNT = new Intl.NumberFormat();

/** Outcomes over time, stacked in the order of the legend. Each bar and number leads to its callbacks. */
export function OutcomeChart({ overview }: { readonly overview: OverviewView }) {
  const { buckets, span, step_seconds, totals, from } = overview;
  const [pointed, setPointed] = useState<number>();
  const zone = useTimeZone();
  const bars = buckets.map(({ outcomes }) => outcomeCounts(outcomes));
  const most = niceTop(Math.max(...bars.map(countOfAll)));
  const at = pointed === undefined ? undefined : buckets[pointed];
  const counts = (pointed === undefined ? undefined : bars[pointed]) ?? outcomeCounts(totals.outcomes);
  const range = at === undefined ? { from } : rangeOf(at.at, step_seconds);
  return (
    <section aria-labelledby="outcomes">
      <h2 id="outcomes">
        Outcomes
        <span className="quiet">{at === undefined ? "" : periodLabel(at.at, span, zone)}</span>
      </h2>
      <ul className="legend" aria-label="Legend">
        {GROUPS.map(({ name, label }) => (
          <li key={name} data-group={name}>
            {label} <Figure count={counts[name]} search={{ ...range, outcome: name }} label={label} />
          </li>
        ))}
      </ul>
      <div className="chart">
        <span className="chart-top">{COUNT.format(most)}</span>
        <span className="chart-half">{COUNT.format(most / 2)}</span>
        <PeriodLinks
          label="Callbacks over time"
          className="bars"
          linkClassName="bar"
          {...{ buckets, span, zone, textOf }}
          stepSeconds={step_seconds}
          point={setPointed}
        >
          {(index) =>
            GROUPS.map(({ name }) => {
              const count = bars[index]?.[name] ?? 0;
              return count === 0 ? null : (
                <i key={name} data-group={name} style={{ height: `${(count / most) * 100}%` }} />
              );
            })
          }
        </PeriodLinks>
        <div className="ticks" aria-hidden="true">
          {buckets.map(({ at: start }, index) => (
            <span key={start}>{index % TICK_EVERY[span] === 0 && periodLabel(start, span, zone)}</span>
          ))}
          <b className="ticks-now">now</b>
        </div>
      </div>
      <details>
        <summary>Show as table</summary>
        <BucketRows buckets={buckets} />
      </details>
    </section>
  );
}

/** The next of 2, 4, 6, 8, 10, 20, 40 and so on: its half is a whole number. */
function niceTop(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(most, 1)));
  return [2, 4, 6, 8, 10].map((factor) => factor * power).find((top) => top >= most) ?? 10 * power;
}

function textOf({ outcomes }: Bucket): string {
  const counts = outcomeCounts(outcomes);
  const parts = GROUPS.filter(({ name }) => counts[name] > 0).map(({ name, label }) => `${label} ${counts[name]}`);
  return parts.length === 0 ? "no callback" : parts.join(", ");
}

function BucketRows({ buckets }: { readonly buckets: readonly Bucket[] }) {
  const columns = [
    { head: "Start", cell: ({ at }: Bucket) => <Time at={at} /> },
    ...GROUPS.map(({ name, label }) => ({
      head: label,
      cell: ({ outcomes }: Bucket) => outcomeCounts(outcomes)[name],
    })),
    { head: "p50", cell: ({ p50_ms }: Bucket) => milliseconds(p50_ms) },
    { head: "p99", cell: ({ p99_ms }: Bucket) => milliseconds(p99_ms) },
  ];
  const rows = buckets.filter(({ outcomes }) => Object.keys(outcomes).length > 0);
  return <Rows caption="Callbacks over time" columns={columns} rows={rows} keyOf={({ at }) => at} />;
}
