import { Progress, Text } from "@mantine/core";
import type { BulkReplayView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { InfiniteListEnd, itemsOf, useInfiniteList } from "../../parts/infinite-list.tsx";
import { OutcomeBadge } from "../../parts/outcome-badge.tsx";
import { PageLink } from "../../parts/page-link.tsx";
import { EmptyState, Loading, Problem } from "../../parts/page-states.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { type Column, Rows } from "../../parts/rows.tsx";
import { Time } from "../../parts/time.tsx";
import { BulkReplayActions, describeFilter } from "./bulk-replay-actions.tsx";
import { UnreplayedEvents } from "./unreplayed-events.tsx";

const EVERY_MS = 2_000;

export function BulkReplaysPage() {
  const list = useInfiniteList(["bulk-replays"], api.bulkReplays.list, EVERY_MS);
  const rows = itemsOf(list);
  return (
    <>
      <PageTitle title="Bulk replays" description="Progress and outcomes of bulk replays." />
      {list.isPending && <Loading what="the bulk replays" />}
      {list.isError && !list.isFetchNextPageError && (
        <Problem error={list.error} title="The bulk replays could not be read" again={() => void list.refetch()} />
      )}
      {list.isSuccess && rows.length === 0 && (
        <EmptyState>
          There has been none. Filter the <PageLink to="/failures">failures</PageLink>, and replay all of them from
          there.
        </EmptyState>
      )}
      {rows.length > 0 && <Rows caption="Bulk replays" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />}
      <InfiniteListEnd list={list} />
    </>
  );
}

const COLUMNS: readonly Column<BulkReplayView>[] = [
  {
    head: "Started",
    cell: ({ started_at, created_by }) => (
      <>
        <Time at={started_at} />
        <Text size="sm">by {created_by}</Text>
      </>
    ),
  },
  {
    head: "Of",
    cell: ({ scope, filter, per_second, reason }) => (
      <>
        {scope === "events" ? "Handled events" : "Failures"}: {describeFilter(filter)}; {per_second} per second
        {reason !== null && <Text size="sm">{reason}</Text>}
      </>
    ),
  },
  {
    head: "State",
    cell: ({ id, scope, state, failed, skipped }) => (
      <>
        <OutcomeBadge outcome={state === "done" && failed > 0 ? `done, ${failed} failed` : state} />
        {scope === "events" && failed + skipped > 0 && <UnreplayedEvents id={id} failed={failed} skipped={skipped} />}
      </>
    ),
  },
  { head: "Progress", cell: (replay) => <ReplayProgress replay={replay} /> },
  { head: "Ended", cell: ({ ended_at }) => <Time at={ended_at} /> },
  { head: "Actions", cell: (replay) => <BulkReplayActions replay={replay} /> },
];

function ReplayProgress({ replay }: { readonly replay: BulkReplayView }) {
  const { scope, total, done, succeeded, already_handled, failed, skipped } = replay;
  const percent = total === 0 ? 100 : Math.round((done / total) * 100);
  return (
    <>
      <Progress value={percent} miw={120} aria-label={`${done} of ${total} done`} />
      <Text size="sm">
        {done} of {total}: {succeeded} succeeded,{" "}
        {scope === "events"
          ? `${skipped} skipped, ${failed} failed`
          : `${already_handled} already handled, ${failed} failed again`}
      </Text>
    </>
  );
}
