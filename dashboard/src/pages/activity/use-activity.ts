import { useDocumentVisibility } from "@mantine/hooks";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import type { CallbackFilters, CallbackRowView, FoundCallbackView, SearchPageView } from "oncehook/admin-client";
import { useCallback, useEffect, useReducer, useRef, useState } from "react";
import { api } from "../../client.ts";
import { followLive } from "../../follow-live.ts";
import { itemsOf } from "../../parts/infinite-list.tsx";
import { type Arrivals, arrivalsReducer, NO_ARRIVALS } from "./arrivals.ts";

const LIMIT = 50;

/** `past` and `found`: not live, since the filters have an end, or since only a search has them. */
export type LiveState = "past" | "found" | "connecting" | "live" | "lost";

/** Without a match where it was not searched for. */
export type ActivityRowView = CallbackRowView & Partial<Pick<FoundCallbackView, "matched">>;

/** A page of rows. Of a search it has how far that has come. */
export type ActivityPageView = Pick<SearchPageView, "next_cursor" | "searched_until"> &
  Partial<Pick<SearchPageView, "searching" | "progress">> & { readonly items: readonly ActivityRowView[] };

/**
 * The callbacks that a query finds: newest first, and of values exact matches first. Those that arrive wait until they are
 * asked for.
 * @param query in the language of the search; empty for all callbacks
 * @param filters the same for the live stream; undefined where it does not have them
 */
export function useActivity(query: string, filters: CallbackFilters | undefined) {
  const key = JSON.stringify(filters ?? null);
  const queries = useQueryClient();
  const list = useInfiniteQuery({
    queryKey: ["activity", query],
    queryFn: ({ pageParam, signal }) => readPage(query, pageParam, signal),
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: what has arrived belongs to this query.
  useEffect(() => dispatch({ type: "clear" }), [query]);
  const state = useLiveCallbacks({ key, query, isRead: list.isSuccess, ids }, dispatch);
  const showNew = useCallback(() => {
    if (!arrivals.isBehind) return dispatch({ type: "show" });
    dispatch({ type: "clear" });
    void queries.resetQueries({ queryKey: ["activity", query] });
  }, [arrivals.isBehind, query, queries]);
  return { list, rows, arrivals, state, showNew };
}

/** @param signal of a query that is left: its search may still wait for others */
function readPage(query: string, cursor: string | null, signal?: AbortSignal): Promise<ActivityPageView> {
  const paging = { limit: LIMIT, ...(cursor === null ? {} : { cursor }) };
  if (query === "") return api.callbacks.list(paging);
  return api.search.find({ q: query, ...paging }, signal === undefined ? {} : { signal });
}

type Dispatch = (action: Parameters<typeof arrivalsReducer>[1]) => void;

interface Followed {
  /** The filters of the live stream, as JSON. */
  readonly key: string;
  readonly query: string;
  readonly isRead: boolean;
  /** Of the rows that are known. */
  readonly ids: { readonly current: ReadonlySet<number> };
}

/** Follows the live stream of the filters. A hidden tab holds no connection: a browser has six for all its tabs. */
function useLiveCallbacks({ key, query, isRead, ids }: Followed, dispatch: Dispatch): LiveState {
  const [state, setState] = useState<LiveState>("connecting");
  const isSeen = useDocumentVisibility() === "visible";
  useEffect(() => {
    const filters = JSON.parse(key) as CallbackFilters | null;
    if (filters === null) return setState("found");
    if (filters.to !== undefined) return setState("past");
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
        if (event.event === "gap" || (event.event === "tally" && isOpening)) await catchUp(query, ids, dispatch);
        if (event.event === "tally") isOpening = false;
        if (event.event === "disconnected") isOpening = true;
      }
    };
    listen().catch(() => setState("lost"));
    return () => over.abort();
  }, [key, query, isRead, isSeen, ids, dispatch]);
  return state;
}

/** Reads the newest page. Without an overlap with the rows there are more of them between. */
async function catchUp(query: string, ids: Followed["ids"], dispatch: Dispatch): Promise<void> {
  const page = await readPage(query, null).catch(() => undefined);
  if (page === undefined) return;
  const fresh = page.items.filter(({ id }) => !ids.current.has(id));
  const hasGap = fresh.length === page.items.length && page.next_cursor !== null && fresh.length > 0;
  dispatch({ type: "arrive", callbacks: fresh, hasGap });
}

export type { Arrivals };
