import { type OverviewView, outcomeCounts } from "oncehook/admin-client";
import type { Bucket } from "../../views.ts";
import "@mantine/charts/styles.css";
import { BarChart, LineChart } from "@mantine/charts";
import { Rows } from "../../parts/rows.tsx";
import { milliseconds, Time } from "../../parts/time.tsx";
import { GROUPS } from "./outcome-groups.ts";

const HEIGHT = 240;
const TIMES = [
  { name: "p50_ms", label: "p50", color: "blue.7" },
  { name: "p99_ms", label: "p99", color: "violet.7" },
];

/** Outcomes and how long they took, over time; the same as a table for those who see no charts. */
export function Charts({ overview: { buckets, span } }: { readonly overview: OverviewView }) {
  const data = buckets.map((bucket) => ({
    ...outcomeCounts(bucket.outcomes),
    ...bucket,
    label: labelOf(bucket.at, span),
  }));
  return (
    <>
      <section aria-labelledby="outcomes">
        <h2 id="outcomes">Outcomes</h2>
        <div aria-hidden="true">
          <BarChart
            h={HEIGHT}
            data={data}
            dataKey="label"
            type="stacked"
            series={[...GROUPS]}
            withLegend
            barProps={{ isAnimationActive: false }}
            // Hidden from screen readers, it must take no focus: the table is for them.
            barChartProps={{ accessibilityLayer: false }}
          />
        </div>
      </section>
      <section aria-labelledby="latency">
        <h2 id="latency">Latency</h2>
        <div aria-hidden="true">
          <LineChart
            h={HEIGHT}
            data={data}
            dataKey="label"
            series={TIMES}
            withLegend
            connectNulls={false}
            valueFormatter={milliseconds}
            lineProps={({ name }) => ({
              isAnimationActive: false,
              activeDot: false,
              dot: ({ key, index = -1, cx, cy, stroke }) =>
                isAlone(buckets, index, name) ? (
                  <circle key={key} cx={cx} cy={cy} r={3} fill={stroke} />
                ) : (
                  <g key={key} />
                ),
            })}
            lineChartProps={{ accessibilityLayer: false }}
          />
        </div>
      </section>
      <details>
        <summary>Show as table</summary>
        <BucketRows buckets={buckets} />
      </details>
    </>
  );
}

/** A value between empty neighbours: a line has two ends, so it would not be seen. */
function isAlone(buckets: readonly Bucket[], index: number, name: string): boolean {
  const hasValue = (place: number) => (buckets[place]?.[name as "p50_ms" | "p99_ms"] ?? null) !== null;
  return hasValue(index) && !hasValue(index - 1) && !hasValue(index + 1);
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

function labelOf(start: string, span: OverviewView["span"]): string {
  const date = new Date(start);
  if (span === "month") return date.toLocaleDateString(undefined, { month: "short", day: "numeric" });
  return date.toLocaleTimeString(undefined, { timeStyle: "short" });
}
