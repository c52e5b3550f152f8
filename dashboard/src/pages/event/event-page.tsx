import { Stack, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../client.ts";
import { Loading } from "../../parts/loading.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { Problem } from "../../parts/problem.tsx";
import { FailureActions } from "../failures/failure-actions.tsx";
import { FailureEnds, type Replayed } from "../failures/failure-ends.tsx";
import { EventFacts } from "./event-facts.tsx";
import { EventNotifications } from "./event-notifications.tsx";
import { Timeline } from "./timeline.tsx";

const route = getRouteApi("/inside/events/$source/$event_id");
const EVERY_MS = 10_000;

export function EventPage() {
  const key = route.useParams();
  const [said, setSaid] = useState<string>();
  const [replayed, setReplayed] = useState<Replayed>();
  const story = useInfiniteQuery({
    queryKey: ["event", key.source, key.event_id],
    queryFn: ({ pageParam }) =>
      api.events.get(key.source, key.event_id, pageParam === null ? {} : { cursor: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ timeline_cursor }) => timeline_cursor,
    // What has failed is tried again; nothing more comes of what was handled.
    refetchInterval: ({ state: { data } }) =>
      data?.pages[0]?.failure == null ? false : EVERY_MS * data.pages.length,
  });
  if (story.isPending) return <Loading what="the event" />;
  const pages = story.data?.pages ?? [];
  const [newest] = pages;
  const moments = pages.flatMap(({ timeline }) => timeline);
  return (
    <>
      <PageTitle
        title={`Event ${key.event_id}`}
        says="Every delivery and attempt of one event, and what came of it."
      />
      {story.isError && (
        <Problem
          error={story.error}
          title="The event could not be read"
          again={() => void (story.isFetchNextPageError ? story.fetchNextPage() : story.refetch())}
        />
      )}
      <Stack gap="xl">
        {newest !== undefined && <EventFacts story={newest} />}
        <FailureEnds said={said} replayed={replayed} close={() => setReplayed(undefined)} />
        {newest?.failure != null && (
          <FailureActions failure={newest.failure} onEnd={setSaid} onReplay={setReplayed} />
        )}
        {newest !== undefined && (
          <section aria-labelledby="timeline">
            <h2 id="timeline">What happened</h2>
            {moments.length === 0 && <Text c="dimmed">The log holds nothing of this event any more.</Text>}
            <Timeline
              moments={moments}
              more={story.hasNextPage ? () => void story.fetchNextPage() : undefined}
            />
          </section>
        )}
        {newest !== undefined && <EventNotifications notifications={newest.notifications} />}
      </Stack>
    </>
  );
}
