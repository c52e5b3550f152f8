import { useDocumentVisibility } from "@mantine/hooks";
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import type { CallbackFilters, CallbackView } from "oncehook/admin-client";
import { type Dispatch, type SetStateAction, useEffect, useRef, useState } from "react";
import { keepListening } from "../../live-stream.ts";
import { behind, type Heard, NOTHING, read, reading, shown, unread, withCallback } from "./heard.ts";

/** Between two readings of the list; and so many times as long as one takes, so that it is not all that the receiver does. */
const LEAST_BETWEEN_MS = 2_000;
const TIMES_AS_LONG = 10;

export interface Live {
  /** What came and the list may not have yet, newest first. */
  readonly rows: readonly CallbackView[];
  /** How many came while it was paused, and are not shown yet. */
  readonly held: number;
  /** Whether there are more that only the list has, which is being read again. */
  readonly hasGap: boolean;
  readonly state: "off" | "connecting" | "live" | "lost";
}

type SetHeard = Dispatch<SetStateAction<Heard>>;

/**
 * Callbacks as they are answered. Paused, it still listens, so that nothing is missing when it goes on; while nobody looks at the
 * page it does not, since a browser has six connections for all its tabs.
 * @param isOn false where the filters end before now
 */
export function useLive(filters: CallbackFilters, isOn: boolean, isPaused: boolean): Live {
  const [heard, setHeard] = useState(NOTHING);
  const [state, setState] = useState<Live["state"]>("off");
  const isSeen = useDocumentVisibility() === "visible";
  // The filters are new objects with each drawing of the page.
  const key = JSON.stringify(filters);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was heard belongs to these filters.
  useEffect(() => setHeard(NOTHING), [key, isOn]);
  useEffect(() => {
    setState(isOn ? "connecting" : "off");
    if (!isOn || !isSeen) return;
    const over = new AbortController();
    listen(JSON.parse(key) as CallbackFilters, over.signal, setHeard, setState).catch(() => setState("lost"));
    return () => over.abort();
  }, [key, isOn, isSeen]);
  useEffect(() => {
    if (!isPaused && heard.held.length > 0) setHeard(shown);
  }, [isPaused, heard.held]);
  useListReadAgain(key, heard.isBehind && heard.old === undefined && !isPaused, setHeard);
  return { rows: heard.rows, held: heard.heldCount, hasGap: heard.hasGap, state };
}

async function listen(
  filters: CallbackFilters,
  signal: AbortSignal,
  setHeard: SetHeard,
  setState: (state: Live["state"]) => void,
): Promise<void> {
  let isOpening = true;
  for await (const told of keepListening(filters, signal)) {
    if (told.event === "away") setState("connecting");
    else setState("live");
    // The stream begins with its first tally. The list was read before that, and what came between would be in neither.
    if (told.event === "gap" || (told.event === "tally" && isOpening)) setHeard(behind);
    if (told.event === "tally") isOpening = false;
    if (told.event === "callback") setHeard((was) => withCallback(was, told.callback));
  }
}

/** Reads the list again when it has to be, but not more often than is good for the receiver. */
function useListReadAgain(key: string, isWanted: boolean, setHeard: SetHeard): void {
  const queries = useQueryClient();
  const nextAt = useRef(0);
  useEffect(() => {
    if (!isWanted) return;
    const begin = async () => {
      const begun = performance.now();
      setHeard(reading);
      const ended = await readList(queries, JSON.parse(key) as CallbackFilters).then(
        () => read,
        () => unread,
      );
      const now = performance.now();
      nextAt.current = now + Math.max(LEAST_BETWEEN_MS, (now - begun) * TIMES_AS_LONG);
      setHeard(ended);
    };
    const timer = setTimeout(() => void begin(), Math.max(0, nextAt.current - performance.now()));
    return () => clearTimeout(timer);
  }, [key, isWanted, queries, setHeard]);
}

async function readList(queries: QueryClient, filters: CallbackFilters): Promise<void> {
  const list = { queryKey: ["callbacks", filters], exact: true };
  // One that is under way may have been answered before the stream began.
  await queries.cancelQueries(list);
  await queries.refetchQueries(list, { throwOnError: true });
}
