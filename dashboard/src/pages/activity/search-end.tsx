import { Button, Progress } from "@mantine/core";
import { useCallback, useEffect, useState } from "react";
import { ListEnd } from "../../parts/list-end.tsx";
import { Time } from "../../parts/time.tsx";
import type { useActivity } from "./use-activity.ts";

type ActivityList = ReturnType<typeof useActivity>["list"];

/** Reads page after page while rows are wanted. A search may pass much of the log without one, and can be stopped. */
export function useReadingOn(list: ActivityList, query: string) {
  const [stopped, setStopped] = useState<string>();
  const isStopped = stopped === query;
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage, data } = list;
  const readOn = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError && !isStopped) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, isFetchNextPageError, isStopped, fetchNextPage]);
  const isEmpty = data?.pages.every(({ items }) => items.length === 0) === true;
  // Without a row there is no list that would ask.
  useEffect(() => {
    if (isEmpty) readOn();
  }, [isEmpty, readOn]);
  const stop = useCallback((is: boolean) => setStopped(is ? query : undefined), [query]);
  return { readOn, isStopped, stop };
}

interface Props {
  readonly list: ActivityList;
  readonly isStopped: boolean;
  readonly stop: (is: boolean) => void;
}

const KINDS = { exact: "Searching", prefix: "Searching beginnings", text: "Searching texts" } as const;

/** Below the rows: how far the search has come while it goes on by itself. */
export function SearchEnd({ list, isStopped, stop }: Props) {
  const { hasNextPage, isFetchNextPageError, data } = list;
  const { searching, progress = 0, searched_until = null } = data?.pages.at(-1) ?? {};
  if (!hasNextPage || isFetchNextPageError || searching === undefined) return <ListEnd list={list} />;
  const percent = Math.round(100 * progress);
  return (
    <div className="list-end search-end">
      <Progress value={percent} size="sm" aria-label={`${percent} % searched`} />
      <span className="quiet">
        {isStopped ? "Stopped" : KINDS[searching ?? "exact"]}
        {searched_until !== null && (
          <>
            {" "}
            back to <Time at={searched_until} />
          </>
        )}
      </span>
      <Button size="compact-sm" variant="default" onClick={() => stop(!isStopped)}>
        {isStopped ? "Go on" : "Stop"}
      </Button>
    </div>
  );
}
