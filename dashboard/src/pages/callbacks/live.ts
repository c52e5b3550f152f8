import { useEffect, useState } from "react";
import type { CallbackFilters, CallbackView } from "../../contract.ts";
import { stringifySearch } from "../../search.ts";

const MOST_ROWS = 200;

export interface Live {
  /** What came since the page was opened, newest first. */
  readonly rows: readonly CallbackView[];
  /** What came while it was paused, and is not shown yet. */
  readonly held: number;
  /** Whether more came at once than is sent: the list, loaded again, has them. */
  readonly hasGap: boolean;
  readonly state: "off" | "connecting" | "live" | "lost";
}

interface Heard {
  readonly hasGap: boolean;
  readonly rows: readonly CallbackView[];
  readonly held: readonly CallbackView[];
}

const NOTHING: Heard = { rows: [], held: [], hasGap: false };

/**
 * Callbacks as they are answered. Paused, it still listens, so that nothing is missing when it goes on.
 * @param isOn false where the filters end before now
 */
export function useLive(filters: CallbackFilters, isOn: boolean, isPaused: boolean): Live {
  const [heard, setHeard] = useState(NOTHING);
  const [state, setState] = useState<Live["state"]>("off");
  const search = stringifySearch({ ...filters });
  useEffect(() => {
    setHeard(NOTHING);
    setState(isOn ? "connecting" : "off");
    if (!isOn) return;
    const source = new EventSource(`/api/v1/live${search}`);
    source.onopen = () => setState("live");
    // It connects again by itself, with the id of the last callback, unless it was refused.
    source.onerror = () => setState(source.readyState === EventSource.CLOSED ? "lost" : "connecting");
    source.addEventListener("callback", ({ data }: MessageEvent<string>) => {
      const callback = JSON.parse(data) as CallbackView;
      setHeard((was) => ({ ...was, held: [callback, ...was.held].slice(0, MOST_ROWS) }));
    });
    source.addEventListener("gap", () => setHeard((was) => ({ ...was, hasGap: true })));
    return () => source.close();
  }, [search, isOn]);
  useEffect(() => {
    if (isPaused || heard.held.length === 0) return;
    setHeard((was) => ({ ...was, rows: [...was.held, ...was.rows].slice(0, MOST_ROWS), held: [] }));
  }, [isPaused, heard.held]);
  return { rows: heard.rows, held: heard.held.length, hasGap: heard.hasGap, state };
}
