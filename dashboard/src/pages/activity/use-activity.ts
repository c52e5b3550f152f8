import { useDocumentVisibility } from "@mantine/hooks";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import type { CallbackFilters, CallbackRowView } from "oncehook/admin-client";
import { useCallback, useEffect, useReducer, useRef, useState } from "react";
import { api } from "../../client.ts";
import { followLive } from "../../follow-live.ts";
import { itemsOf } from "../../parts/infinite-list.tsx";
import { type Arrivals, arrivalsReducer, NO_ARRIVALS } from "./arrivals.ts";

const LIMIT = 50;

export type LiveState = "off" | "connecting" | "live" | "lost";

/** The callbacks that the filters select, newest first. Those that arrive wait until they are asked for. */
export function useActivity(filters: CallbackFilters) {
  const key = JSON.stringify(filters);
  const queries = useQueryClient();
  const list = useInfiniteQuery({
    queryKey: ["activity", key],
    queryFn: ({ pageParam }) =>
      api.callbacks.list({ ...filters, limit: LIMIT, ...(pageParam === null ? {} : { cursor: pageParam }) }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    // Reading it again would move the rows under a reader; the live stream brings what is new.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    meta: { isKeptByLive: true },
  });
  const [arrivals, dispatch] = useReducer(arrivalsReducer, NO_ARRIVALS);
  const read = itemsOf(list);
  const known = new Set(arrivals.shown.map(({ id }) => id));
  const rows = [...arrivals.shown, ...read.filter(({ id }) => !known.has(id))];
  const ids = useRef<ReadonlySet<number>>(new Set());
  ids.current = new Set(rows.map(({ id }) => id));
  // biome-ignore lint/correctness/useExhaustiveDependencies: what has arrived belongs to these filters.
  useEffect(() => dispatch({ type: "clear" }), [key]);
  const state = useLiveCallbacks(key, list.isSuccess, ids, dispatch);
  const showNew = useCallback(() => {
    if (!arrivals.isBehind) return dispatch({ type: "show" });
    dispatch({ type: "clear" });
    void queries.resetQueries({ queryKey: ["activity", key] });
  }, [arrivals.isBehind, key, queries]);
  return { list, rows, arrivals, state, showNew };
}

type Dispatch = (action: Parameters<typeof arrivalsReducer>[1]) => void;

/** Follows the live stream of the filters. A hidden tab holds no connection: a browser has six for all its tabs. */
function useLiveCallbacks(
  key: string,
  isRead: boolean,
  ids: { readonly current: ReadonlySet<number> },
  dispatch: Dispatch,
): LiveState {
  const [state, setState] = useState<LiveState>("off");
  const isSeen = useDocumentVisibility() === "visible";
  useEffect(() => {
    const filters = JSON.parse(key) as CallbackFilters;
    if (filters.to !== undefined) return setState("off");
    setState("connecting");
    if (!isSeen || !isRead) return;
    const over = new AbortController();
    const add = (callbacks: readonly CallbackRowView[]) =>
      dispatch({ type: "arrive", callbacks: callbacks.filter(({ id }) => !ids.current.has(id)) });
    const listen = async () => {
      let isOpening = true;
      for await (const event of followLive(filters, over.signal)) {
        setState(event.event === "disconnected" ? "connecting" : "live");
        if (event.event === "callback") add([event.callback]);
        // Callbacks between the reading of the list and the opening of the stream are in neither.
        if (event.event === "gap" || (event.event === "tally" && isOpening)) await catchUp(filters, ids, dispatch);
        if (event.event === "tally") isOpening = false;
        if (event.event === "disconnected") isOpening = true;
      }
    };
    listen().catch(() => setState("lost"));
    return () => over.abort();
  }, [key, isRead, isSeen, ids, dispatch]);
  return state;
}

/** Reads the newest page. Without an overlap with the rows there are more of them between. */
async function catchUp(
  filters: CallbackFilters,
  ids: { readonly current: ReadonlySet<number> },
  dispatch: Dispatch,
): Promise<void> {
  const page = await api.callbacks.list({ ...filters, limit: LIMIT }).catch(() => undefined);
  if (page === undefined) return;
  const fresh = page.items.filter(({ id }) => !ids.current.has(id));
  const hasGap = fresh.length === page.items.length && page.next_cursor !== null && fresh.length > 0;
  dispatch({ type: "arrive", callbacks: fresh, hasGap });
}

export type { Arrivals };
