import { Stack, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { EventHistoryView, NotificationView } from "oncehook/admin-client";
import { useState } from "react";
import { api } from "../../client.ts";
import { Facts } from "../../parts/facts.tsx";
import { OutcomeBadge } from "../../parts/outcome-badge.tsx";
import { Loading, Problem } from "../../parts/page-states.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { TextBlock } from "../../parts/text-block.tsx";
import { Time } from "../../parts/time.tsx";
import { FailureActionResult, type FinishedReplay } from "../failures/failure-action-result.tsx";
import { FailureActions } from "../failures/failure-actions.tsx";
import { DeliveryList } from "../notifications/delivery-list.tsx";
import { Timeline } from "./timeline.tsx";

const route = getRouteApi("/inside/events/$source/$event_id");
const EVERY_MS = 10_000;

export function EventPage() {
  const key = route.useParams();
  const [message, setMessage] = useState<string>();
  const [replayed, setReplayed] = useState<FinishedReplay>();
  const history = useInfiniteQuery({
    queryKey: ["event", key.source, key.event_id],
    queryFn: ({ pageParam }) =>
      api.events.get(key.source, key.event_id, pageParam === null ? {} : { cursor: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ timeline_cursor }) => timeline_cursor,
    // A failed event is tried again; a handled one does not change.
    refetchInterval: ({ state: { data } }) => (data?.pages[0]?.failure == null ? false : EVERY_MS * data.pages.length),
  });
  if (history.isPending) return <Loading what="the event" />;
  const pages = history.data?.pages ?? [];
  const [newest] = pages;
  const entries = pages.flatMap(({ timeline }) => timeline);
  return (
    <>
      <PageTitle
        title={`Event ${key.event_id}`}
        description="Every delivery and attempt of one event, and what came of it."
      />
      {history.isError && (
        <Problem
          error={history.error}
          title="The event could not be read"
          again={() => void (history.isFetchNextPageError ? history.fetchNextPage() : history.refetch())}
        />
      )}
      <Stack gap="xl">
        {newest !== undefined && <EventFacts history={newest} />}
        <FailureActionResult message={message} replayed={replayed} close={() => setReplayed(undefined)} />
        {newest?.failure != null && (
          <FailureActions failure={newest.failure} onDone={setMessage} onReplay={setReplayed} />
        )}
        {newest !== undefined && (
          <section aria-labelledby="timeline">
            <h2 id="timeline">Timeline</h2>
            {entries.length === 0 && <Text c="dimmed">The log holds nothing of this event any more.</Text>}
            <Timeline entries={entries} more={history.hasNextPage ? () => void history.fetchNextPage() : undefined} />
          </section>
        )}
        {newest !== undefined && <EventNotifications notifications={newest.notifications} />}
      </Stack>
    </>
  );
}

/** The record of an event, or its failure, or that there is neither. */
function EventFacts({ history: { source, event_id, event, failure } }: { readonly history: EventHistoryView }) {
  return (
    <section aria-label="The event">
      <Facts
        of={[
          ["Source", source],
          ["Event id", event_id],
          ["Event type", event?.event_type ?? failure?.event_type],
          ["Version", event?.version ?? failure?.version],
          ["Record", stateOf(event, failure)],
          ["Handled", event?.processed_at == null ? null : <Time key="at" at={event.processed_at} relative />],
          ["Attempts", failure?.attempts],
          [
            "Next attempt",
            failure?.next_attempt_at == null ? null : <Time key="next" at={failure.next_attempt_at} relative />,
          ],
          [
            "Failed with",
            failure === null ? null : (
              <OutcomeBadge key="code" outcome={failure.code} status={failure.state === "rejected" ? 400 : 500} />
            ),
          ],
        ]}
      />
      {event?.result != null && (
        <>
          <h2>Result</h2>
          <TextBlock label="The handler's result" text={JSON.stringify(event.result)} />
        </>
      )}
      {failure !== null && (
        <>
          <h2>Last error</h2>
          <TextBlock label="The last error with its stack" text={failure.error} />
        </>
      )}
    </section>
  );
}

function stateOf(event: EventHistoryView["event"], failure: EventHistoryView["failure"]): string {
  if (event?.status === "completed") return "completed";
  if (failure?.state === "waiting") return "none: failed, waiting for retry";
  if (failure?.state === "exhausted") return "none: failed, retries exhausted";
  if (failure?.state === "rejected") return "none: rejected";
  return "none: not processed here";
}

/** Notifications that the handler wrote in its transaction. */
function EventNotifications({ notifications }: { readonly notifications: readonly NotificationView[] }) {
  return (
    <section aria-labelledby="notifications">
      <h2 id="notifications">Notifications</h2>
      {notifications.length === 0 && <Text c="dimmed">Its handler queued none.</Text>}
      {notifications.map((notification) => (
        <div key={notification.id}>
          <Text fw={600}>{notification.topic}</Text>
          <DeliveryList deliveries={notification.deliveries} />
        </div>
      ))}
    </section>
  );
}
