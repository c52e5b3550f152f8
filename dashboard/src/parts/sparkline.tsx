import "./sparkline.css";
import type { Tone } from "./outcome.ts";

const HEIGHT = 16;
const BAR = 3;
const STEP = 4;

interface Props {
  /** By the hour, the 24 hours up to now; empty where there are none. */
  readonly hourly: readonly number[];
  readonly tone: Tone;
}

/** Bars of the last day. The numbers beside it say the same to those who see no bars. */
export function Sparkline({ hourly, tone }: Props) {
  const most = Math.max(...hourly, 1);
  return (
    <svg
      className="sparkline"
      data-tone={tone}
      width={24 * STEP}
      height={HEIGHT}
      viewBox={`0 0 ${24 * STEP} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {hourly.map((count, hour) => {
        const height = count === 0 ? 1 : Math.max(2, (count / most) * HEIGHT);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: an hour's bar is its place.
          <rect key={hour} data-empty={count === 0} x={hour * STEP} y={HEIGHT - height} width={BAR} height={height} />
        );
      })}
    </svg>
  );
}
