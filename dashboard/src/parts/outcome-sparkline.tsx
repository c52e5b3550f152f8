import { outcomeCounts } from "oncehook/admin-client";
import { countOfAll, GROUPS } from "./outcome-groups.ts";
import "./chart.css";
import "./sparkline.css";

const HEIGHT = 20;
/** A single callback is seen beside a thousand. */
const LEAST = 2;
const BAR = 3;
const STEP = 4;

/** Outcomes by code in each period, as the receiver has them; the oldest first. */
type Periods = readonly Readonly<Record<string, number>>[];

interface Props {
  readonly periods: Periods;
  /** The height of a bar in callbacks: rows below each other have one scale. */
  readonly most: number;
}

/** The callbacks of the highest period. */
export function highestOf(periods: Periods): number {
  return Math.max(1, ...periods.map((outcomes) => countOfAll(outcomeCounts(outcomes))));
}

/** Stacked bars of an hour, in the order of the legend. The numbers beside it say the same to those who see no bars. */
export function OutcomeSparkline({ periods, most }: Props) {
  const bars = periods.map((outcomes) => outcomeCounts(outcomes));
  const width = periods.length * STEP;
  return (
    <svg className="sparkline" width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} aria-hidden="true">
      {bars.map((counts, index) => {
        let below = 0;
        const parts = GROUPS.flatMap(({ name }) => {
          const height = counts[name] === 0 ? 0 : Math.max(LEAST, (counts[name] / most) * HEIGHT);
          below += height;
          return height === 0 ? [] : [{ name, height, y: HEIGHT - below }];
        });
        const x = index * STEP;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a period's bar is its place.
          <g key={index}>
            {parts.length === 0 && <rect data-empty x={x} y={HEIGHT - 1} width={BAR} height={1} />}
            {parts.map(({ name, ...part }) => (
              <rect key={name} data-group={name} x={x} width={BAR} {...part} />
            ))}
          </g>
        );
      })}
    </svg>
  );
}
