import type { CallbackFilters, CallbackView } from "oncehook/admin-client";
import { type Dispatch, type SetStateAction, useEffect, useState } from "react";
import { api } from "../../client.ts";

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
  // The filters are new objects with each drawing of the page.
  const key = JSON.stringify(filters);
  useEffect(() => {
    setHeard(NOTHING);
    setState(isOn ? "connecting" : "off");
    if (!isOn) return;
    const over = new AbortController();
    listen(JSON.parse(key) as CallbackFilters, over.signal, setHeard, setState).catch(() => setState("lost"));
    return () => over.abort();
  }, [key, isOn]);
  useEffect(() => {
    if (isPaused || heard.held.length === 0) return;
    setHeard((was) => ({ ...was, rows: [...was.held, ...was.rows].slice(0, MOST_ROWS), held: [] }));
  }, [isPaused, heard.held]);
  return { rows: heard.rows, held: heard.held.length, hasGap: heard.hasGap, state };
}

async function listen(
  filters: CallbackFilters,
  signal: AbortSignal,
  setHeard: Dispatch<SetStateAction<Heard>>,
  setState: (state: Live["state"]) => void,
): Promise<void> {
  for await (const told of api.live(filters, { signal })) {
    if (told.event === "away") setState("connecting");
    else setState("live");
    if (told.event === "gap") setHeard((was) => ({ ...was, hasGap: true }));
    if (told.event === "callback")
      setHeard((was) => ({ ...was, held: [told.callback, ...was.held].slice(0, MOST_ROWS) }));
  }
}
