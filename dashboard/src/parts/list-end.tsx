import { Button } from "@mantine/core";
import type { InfiniteData, UseInfiniteQueryResult } from "@tanstack/react-query";
import type { Page } from "../views.ts";
import { Problem } from "./page-states.tsx";
import { Time } from "./time.tsx";

/** Below the rows: that they are all, that more are read, or why not. */
export function ListEnd({ list }: { readonly list: UseInfiniteQueryResult<InfiniteData<Page<unknown>>> }) {
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage, error, data } = list;
  if (isFetchNextPageError)
    return (
      <div className="list-end">
        <Problem error={error} title="More results could not be loaded" />
        <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Load more
        </Button>
      </div>
    );
  if (!hasNextPage) return <p className="list-end quiet">End of results</p>;
  const lastPage = data?.pages.at(-1);
  const until = lastPage?.items.length === 0 ? (lastPage.searched_until ?? null) : null;
  return (
    <div className="list-end">
      {until !== null && (
        <span role="status" className="quiet">
          Searched back to <Time at={until} />
        </span>
      )}
      <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        Load more
      </Button>
    </div>
  );
}
