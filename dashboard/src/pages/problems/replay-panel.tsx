import { Button } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { FailureView, PageOf } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { openOf } from "../../panel/opened.ts";
import { PanelFrame } from "../../panel/panel-frame.tsx";
import { Loading, Problem } from "../../parts/page-states.tsx";
import { plain } from "../../parts/plain-message.ts";
import { Time } from "../../parts/time.tsx";
import { EventLines } from "./event-lines.tsx";
import { ReplayFacts } from "./replay-facts.tsx";
import { ReplayResult } from "./replay-result.tsx";
import { UnreplayedEvents } from "./unreplayed-events.tsx";
import { useReplayedEvents } from "./use-replayed-events.ts";
import { isRunning } from "./use-replays.ts";

const EVERY_MS = 1_000;

interface Props {
  readonly id: number;
  readonly close: () => void;
}

/** One bulk replay with the events that failed again in it. */
export function ReplayPanel({ id, close }: Props) {
  const replay = useQuery({
    queryKey: ["bulk-replays", "one", id],
    queryFn: () => api.bulkReplays.get(id),
    refetchInterval: ({ state: { data } }) => (data !== undefined && isRunning(data) ? EVERY_MS : false),
  });
  const title = useReplayedEvents(replay.data);
  return (
    <PanelFrame
      label="Bulk replay"
      title={title}
      beside={replay.data !== undefined && <Time at={replay.data.started_at} relative />}
      close={close}
    >
      {replay.isPending && <Loading what="the bulk replay" />}
      {replay.isError && (
        <Problem error={replay.error} title="The bulk replay could not be read" again={() => void replay.refetch()} />
      )}
      {replay.data !== undefined && (
        <div className="panel-content">
          <ReplayResult replay={replay.data} />
          <ReplayFacts replay={replay.data} />
          {replay.data.scope === "failures" && <FailedAgain id={id} failed={replay.data.failed} />}
          {replay.data.scope === "events" && replay.data.failed + replay.data.skipped > 0 && (
            <UnreplayedEvents id={id} />
          )}
        </div>
      )}
    </PanelFrame>
  );
}

/** Exactly the events that failed again, unless they have been mended or tried since. */
function FailedAgain({ id, failed }: { readonly id: number; readonly failed: number }) {
  const list = useInfiniteQuery({
    queryKey: ["bulk-replays", "failed", id, failed],
    queryFn: ({ pageParam }): Promise<PageOf<FailureView>> =>
      api.failures.list({ bulk_replay: String(id), ...(pageParam === null ? {} : { cursor: pageParam }) }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    enabled: failed > 0,
  });
  const failures = list.data?.pages.flatMap(({ items }) => items) ?? [];
  if (failed === 0) return null;
  return (
    <section>
      <h3>Failed again</h3>
      <EventLines
        label="Events that failed again"
        heads={["Failed at", "Event", "Error"]}
        lines={failures.map((failure) => ({
          key: failure.id,
          at: failure.last_failed_at,
          name: failure.event_id,
          open: openOf(failure),
          note: plain(failure.error.split("\n", 1)[0] ?? ""),
          title: failure.error,
        }))}
      />
      {list.isSuccess && failures.length < failed && !list.hasNextPage && (
        <p className="quiet">The others were handled, discarded or replayed since.</p>
      )}
      {list.hasNextPage && (
        <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Load more
        </Button>
      )}
    </section>
  );
}
