import { useDocumentVisibility } from "@mantine/hooks";
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import type { CallbackFilters, CallbackView } from "oncehook/admin-client";
import { type Dispatch, type SetStateAction, useEffect, useRef, useState } from "react";
import { followLive } from "../../follow-live.ts";
import {
  addCallback,
  failReading,
  finishReading,
  type LiveRows,
  markBehind,
  NO_ROWS,
  showHeld,
  startReading,
} from "./live-rows.ts";

const MIN_INTERVAL_MS = 2_000;
/** The pause after a slow reading of the list is so many times as long, which spares the receiver. */
const TIMES_AS_LONG = 10;

export interface Live {
  /** New callbacks that the list may not have yet, newest first. */
  readonly rows: readonly CallbackView[];
  /** How many came while it was paused, and are not shown yet. */
  readonly held: number;
  /** Whether there are more that only the list has, which is being read again. */
  readonly hasGap: boolean;
  readonly state: "off" | "connecting" | "live" | "lost";
}

type SetLiveRows = Dispatch<SetStateAction<LiveRows>>;

/**
 * Callbacks as they get their responses. Paused, it still listens, so that nothing is missing on resume. It does not listen
 * in a hidden tab, since a browser has six connections for all its tabs.
 * @param isOn false where the filters end before now
 */
export function useLive(filters: CallbackFilters, isOn: boolean, isPaused: boolean): Live {
  const [liveRows, setRows] = useState(NO_ROWS);
  const [state, setState] = useState<Live["state"]>("off");
  const isSeen = useDocumentVisibility() === "visible";
  // The filters are new objects with each drawing of the page.
  const key = JSON.stringify(filters);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the rows belong to these filters.
  useEffect(() => setRows(NO_ROWS), [key, isOn]);
  useEffect(() => {
    setState(isOn ? "connecting" : "off");
    if (!isOn || !isSeen) return;
    const over = new AbortController();
    listen(JSON.parse(key) as CallbackFilters, over.signal, setRows, setState).catch(() => setState("lost"));
    return () => over.abort();
  }, [key, isOn, isSeen]);
  useEffect(() => {
    if (!isPaused && liveRows.held.length > 0) setRows(showHeld);
  }, [isPaused, liveRows.held]);
  useListRefresh(key, liveRows.isBehind && liveRows.superseded === undefined && !isPaused, setRows);
  return { rows: liveRows.rows, held: liveRows.heldCount, hasGap: liveRows.hasGap, state };
}

async function listen(
  filters: CallbackFilters,
  signal: AbortSignal,
  setRows: SetLiveRows,
  setState: (state: Live["state"]) => void,
): Promise<void> {
  let isOpening = true;
  for await (const event of followLive(filters, signal)) {
    if (event.event === "disconnected") setState("connecting");
    else setState("live");
    // The stream begins with its first tally. The list was read before, and callbacks in between would be in neither.
    if (event.event === "gap" || (event.event === "tally" && isOpening)) setRows(markBehind);
    if (event.event === "tally") isOpening = false;
    if (event.event === "callback") setRows((was) => addCallback(was, event.callback));
  }
}

/** Reads the list again when it is behind, with a pause that spares the receiver. */
function useListRefresh(key: string, isWanted: boolean, setRows: SetLiveRows): void {
  const queries = useQueryClient();
  const nextAt = useRef(0);
  useEffect(() => {
    if (!isWanted) return;
    const begin = async () => {
      const startedAt = performance.now();
      setRows(startReading);
      const ended = await readList(queries, JSON.parse(key) as CallbackFilters).then(
        () => finishReading,
        () => failReading,
      );
      const now = performance.now();
      nextAt.current = now + Math.max(MIN_INTERVAL_MS, (now - startedAt) * TIMES_AS_LONG);
      setRows(ended);
    };
    const timer = setTimeout(() => void begin(), Math.max(0, nextAt.current - performance.now()));
    return () => clearTimeout(timer);
  }, [key, isWanted, queries, setRows]);
}

async function readList(queries: QueryClient, filters: CallbackFilters): Promise<void> {
  const list = { queryKey: ["callbacks", filters], exact: true };
  // One that is under way may have got its response before the stream began.
  await queries.cancelQueries(list);
  await queries.refetchQueries(list, { throwOnError: true });
}
