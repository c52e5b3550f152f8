import { useDocumentVisibility } from "@mantine/hooks";
import type { TallyView } from "oncehook/admin-client";
import { useEffect, useState } from "react";
import { followLive } from "../../follow-live.ts";
import { Rate } from "./rate.ts";

/** A filter that no callback matches: only tallies come, which count all callbacks. */
const NO_CALLBACKS = { from: "9999-01-01T00:00:00Z" };

export interface LiveTally {
  readonly tally: TallyView;
  /** Callbacks a second since the tally before; undefined with the first ones. */
  readonly rate: number | undefined;
}

export type LiveTallyState = LiveTally | "connecting" | "disconnected";

/** The receiver's counts, every two seconds while the page is visible. */
export function useLiveTally(): LiveTallyState {
  const [now, setNow] = useState<LiveTallyState>("connecting");
  const isSeen = useDocumentVisibility() === "visible";
  useEffect(() => {
    if (!isSeen) return;
    setNow("connecting");
    const over = new AbortController();
    listen(over.signal, setNow).catch(() => setNow("disconnected"));
    return () => over.abort();
  }, [isSeen]);
  return now;
}

async function listen(signal: AbortSignal, setNow: (now: LiveTallyState) => void): Promise<void> {
  let rate = new Rate();
  for await (const event of followLive(NO_CALLBACKS, signal)) {
    if (event.event === "disconnected") {
      rate = new Rate();
      setNow("disconnected");
    }
    if (event.event === "tally")
      setNow({ tally: event.tally, rate: rate.next(event.tally.callbacks, performance.now()) });
  }
}
