import { useEffect, useState } from "react";
import type { TallyView } from "../../contract.ts";

/** Tallies alone: they are of all callbacks, and no callback comes this late. */
const NO_CALLBACKS = "from=9999-01-01T00:00:00Z";

export interface Now {
  readonly tally: TallyView;
  /** Callbacks a second since the tally before; undefined with the first one. */
  readonly rate: number | undefined;
}

/** What the receiver counts, every two seconds while the page is open; undefined before the first. */
export function useNow(): Now | undefined {
  const [now, setNow] = useState<Now>();
  useEffect(() => {
    const source = new EventSource(`/api/v1/live?${NO_CALLBACKS}`);
    let before: number | undefined;
    source.addEventListener("tally", ({ data, timeStamp }: MessageEvent<string>) => {
      const tally = JSON.parse(data) as TallyView;
      const seconds = before === undefined ? undefined : (timeStamp - before) / 1_000;
      before = timeStamp;
      setNow({ tally, rate: seconds === undefined || seconds <= 0 ? undefined : tally.callbacks / seconds });
    });
    // The first tally after a break tells of another time.
    source.onerror = () => {
      before = undefined;
    };
    return () => source.close();
  }, []);
  return now;
}
