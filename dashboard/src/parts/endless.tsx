import { Button, Group, Text } from "@mantine/core";
import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { Page } from "../views.ts";
import { Time } from "./time.tsx";

/** A bounded search goes on by itself past so many pages in which it has found nothing; then it asks. */
const MOST_BARREN = 20;

type Result<Item> = UseInfiniteQueryResult<InfiniteData<Page<Item>>>;

/** A list of the API, read on and on to older items. @param key without the cursor */
export function useEndless<Item>(
  key: readonly unknown[],
  read: (cursor: { cursor?: string }) => Promise<Page<Item>>,
  refetchInterval: number | false = false,
): Result<Item> {
  return useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam }) => read(pageParam === null ? {} : { cursor: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    // Only the newest page changes by itself; to read all of them again would ask for more each time.
    refetchInterval: ({ state }) => (state.data?.pages.length === 1 ? refetchInterval : false),
    refetchOnWindowFocus: false,
  });
}

export function itemsOf<Item>({ data }: Result<Item>): readonly Item[] {
  return data?.pages.flatMap(({ items }) => items) ?? [];
}

/** The list's end: it reads on when it comes into view, and has a button for those who do not scroll. */
export function EndlessEnd<Item>({ list }: { readonly list: Result<Item> }) {
  const end = useRef<HTMLDivElement>(null);
  const { hasNextPage, isFetchingNextPage, fetchNextPage, data } = list;
  const lastPage = data?.pages.at(-1);
  const barren = data?.pages.toReversed().findIndex(({ items }) => items.length > 0) ?? 0;
  const isBarren = (barren === -1 ? (data?.pages.length ?? 0) : barren) >= MOST_BARREN;
  useEffect(() => {
    const element = end.current;
    if (element === null || !hasNextPage || isFetchingNextPage || isBarren) return;
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting === true) void fetchNextPage();
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [hasNextPage, isFetchingNextPage, isBarren, fetchNextPage]);
  if (data === undefined) return null;
  if (!hasNextPage)
    return itemsOf(list).length === 0 ? null : (
      <Text c="dimmed" mt="md">
        This is the end of the list.
      </Text>
    );
  const until = lastPage?.items.length === 0 ? (lastPage.searched_until ?? null) : null;
  return (
    <Group ref={end} mt="md">
      <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        {until === null ? "Show older ones" : "Search further back"}
      </Button>
      {until !== null && (
        <Text c="dimmed" role="status">
          Searched back to <Time at={until} />
        </Text>
      )}
    </Group>
  );
}
