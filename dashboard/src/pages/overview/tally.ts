import { useDocumentVisibility } from "@mantine/hooks";
import type { TallyView } from "oncehook/admin-client";
import { useEffect, useState } from "react";
import { keepListening } from "../../live-stream.ts";
import { Rate } from "./rate.ts";

/** Tallies alone: they are of all callbacks, and no callback comes this late. */
const NO_CALLBACKS = { from: "9999-01-01T00:00:00Z" };

export interface Now {
  readonly tally: TallyView;
  /** Callbacks a second since the tally before; undefined with the first ones. */
  readonly rate: number | undefined;
}

export type Telling = Now | "connecting" | "away";

/** What the receiver counts, every two seconds while the page is open and seen. */
export function useNow(): Telling {
  const [now, setNow] = useState<Telling>("connecting");
  const isSeen = useDocumentVisibility() === "visible";
  useEffect(() => {
    if (!isSeen) return;
    setNow("connecting");
    const over = new AbortController();
    listen(over.signal, setNow).catch(() => setNow("away"));
    return () => over.abort();
  }, [isSeen]);
  return now;
}

async function listen(signal: AbortSignal, setNow: (now: Telling) => void): Promise<void> {
  let rate = new Rate();
  for await (const told of keepListening(NO_CALLBACKS, signal)) {
    if (told.event === "away") {
      rate = new Rate();
      setNow("away");
    }
    if (told.event === "tally")
      setNow({ tally: told.tally, rate: rate.next(told.tally.callbacks, performance.now()) });
  }
}
