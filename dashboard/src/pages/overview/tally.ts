import type { TallyView } from "oncehook/admin-client";
import { useEffect, useState } from "react";
import { api } from "../../client.ts";

/** Tallies alone: they are of all callbacks, and no callback comes this late. */
const NO_CALLBACKS = { from: "9999-01-01T00:00:00Z" };

export interface Now {
  readonly tally: TallyView;
  /** Callbacks a second since the tally before; undefined with the first one. */
  readonly rate: number | undefined;
}

/** What the receiver counts, every two seconds while the page is open; undefined before the first, and without a connection. */
export function useNow(): Now | undefined {
  const [now, setNow] = useState<Now>();
  useEffect(() => {
    const over = new AbortController();
    listen(over.signal, setNow).catch(() => setNow(undefined));
    return () => over.abort();
  }, []);
  return now;
}

async function listen(signal: AbortSignal, setNow: (now: Now | undefined) => void): Promise<void> {
  let before: number | undefined;
  for await (const told of api.live(NO_CALLBACKS, { signal })) {
    if (told.event === "away") {
      before = undefined;
      setNow(undefined);
    }
    if (told.event !== "tally") continue;
    const at = performance.now();
    const rate = before === undefined ? undefined : (told.tally.callbacks / (at - before)) * 1_000;
    before = at;
    setNow({ tally: told.tally, rate });
  }
}
