import { Button, Group, Text } from "@mantine/core";
import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { Page } from "../views.ts";
import { isEmptySearch } from "./empty-search.ts";
import { Problem } from "./page-states.tsx";
import { Time } from "./time.tsx";

type Result<Item> = UseInfiniteQueryResult<InfiniteData<Page<Item>>>;

/** A list of the API, page by page to older items. @param key without the cursor */
export function useInfiniteList<Item>(
  key: readonly unknown[],
  read: (cursor: { cursor?: string }) => Promise<Page<Item>>,
  refetchInterval: number | false = false,
): Result<Item> {
  return useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) => read(pageParam === null ? {} : { cursor: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    // All pages are read again: a longer list is read less often, so that the load stays the same.
    refetchInterval: ({ state }) =>
      refetchInterval === false ? false : refetchInterval * (state.data?.pages.length ?? 1),
    refetchOnWindowFocus: false,
  });
}

export function itemsOf<Item>({ data }: Result<Item>): readonly Item[] {
  return data?.pages.flatMap(({ items }) => items) ?? [];
}

/** The list's end loads more when it comes into view, and has a button for readers who do not scroll. */
export function InfiniteListEnd<Item>({ list }: { readonly list: Result<Item> }) {
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage, data, error } = list;
  const [askedAt, setAskedAt] = useState(0);
  const pages = data?.pages ?? [];
  const isWanted = !isFetchingNextPage && !isFetchNextPageError && !isEmptySearch(pages, askedAt);
  const end = useOnReachEnd(hasNextPage && isWanted, fetchNextPage);
  if (data === undefined) return null;
  if (!hasNextPage)
    return itemsOf(list).length === 0 ? null : (
      <Text c="dimmed" mt="md">
        End of results
      </Text>
    );
  const lastPage = pages.at(-1);
  const until = lastPage?.items.length === 0 ? (lastPage.searched_until ?? null) : null;
  const readOn = () => {
    setAskedAt(pages.length);
    void fetchNextPage();
  };
  return (
    <>
      {isFetchNextPageError && <Problem error={error} title="More results could not be loaded" />}
      <Group ref={end} mt="md">
        <Button variant="default" loading={isFetchingNextPage} onClick={readOn}>
          {until === null ? "Load more" : "Search further back"}
        </Button>
        {until !== null && (
          <Text c="dimmed" role="status">
            Searched back to <Time at={until} />
          </Text>
        )}
      </Group>
    </>
  );
}

/** Loads more, if that is wanted, when the element comes into view. */
function useOnReachEnd(isWanted: boolean, readOn: () => unknown) {
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (end.current === null || !isWanted) return;
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting === true) readOn();
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [isWanted, readOn]);
  return end;
}
