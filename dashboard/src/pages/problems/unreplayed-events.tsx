import { Button } from "@mantine/core";
import { api } from "../../client.ts";
import { openOf } from "../../panel/opened.ts";
import { itemsOf, useInfiniteList } from "../../parts/infinite-list.tsx";
import { plain } from "../../parts/plain-message.ts";
import { EventLines } from "./event-lines.tsx";

/** The handled events that a bulk replay did not run, each with its reason. */
export function UnreplayedEvents({ id }: { readonly id: number }) {
  const list = useInfiniteList(["bulk-replays", "unreplayed", id], (query) => api.bulkReplays.unreplayed(id, query));
  return (
    <section>
      <h3>Not run</h3>
      <EventLines
        label="Events that were not run"
        heads={["Ended at", "Event", "Reason"]}
        lines={itemsOf(list).map((event) => ({
          key: event.id,
          at: event.at,
          name: event.event_id,
          open: openOf(event),
          note: `${event.kind === "skipped" ? "Skipped" : "Failed"}: ${plain(event.error.split("\n", 1)[0] ?? "")}`,
          title: event.error,
        }))}
      />
      {list.hasNextPage && (
        <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Load more
        </Button>
      )}
    </section>
  );
}
