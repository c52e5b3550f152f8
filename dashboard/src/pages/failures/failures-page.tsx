import { Text } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import type { FailureView } from "oncehook/admin-client";
import { useState } from "react";
import { api } from "../../client.ts";
import { FailureActionResult, type FinishedReplay } from "../../panel/failure-action-result.tsx";
import { type FailureActionHandlers, FailureActions } from "../../panel/failure-actions.tsx";
import { openOf } from "../../panel/opened.ts";
import { type FilterField, FilterForm } from "../../parts/filter-form.tsx";
import { InfiniteListEnd, itemsOf, useInfiniteList } from "../../parts/infinite-list.tsx";
import { OutcomeBadge } from "../../parts/outcome-badge.tsx";
import { PageLink } from "../../parts/page-link.tsx";
import { EmptyState, Loading, Problem } from "../../parts/page-states.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { type Column, Rows } from "../../parts/rows.tsx";
import { TextBlock } from "../../parts/text-block.tsx";
import { Time } from "../../parts/time.tsx";
import { failureSearch } from "../../search.ts";
import { useMayChange } from "../../session.ts";
import { StartBulkReplay } from "./start-bulk-replay.tsx";

const route = getRouteApi("/inside/failures");
const EVERY_MS = 10_000;
const FILTER_FIELDS: readonly FilterField[] = [
  { name: "state", label: "State", options: ["accepted", "waiting", "exhausted", "rejected"] },
  { name: "source", label: "Source" },
  { name: "event_type", label: "Event type" },
  {
    name: "code",
    label: "Code",
    suggestions: [
      "event_invalid",
      "rejected",
      "handler_failed",
      "handler_timed_out",
      "result_invalid",
      "process_ended",
      "commit_failed",
      "store_unavailable",
    ],
  },
];

export function FailuresPage() {
  const filters = failureSearch(route.useSearch());
  const navigate = route.useNavigate();
  const [message, setMessage] = useState<string>();
  const [replayed, setReplayed] = useState<FinishedReplay>();
  const mayChange = useMayChange();
  const list = useInfiniteList(
    ["failures", filters],
    (cursor) => api.failures.list({ ...filters, ...cursor }),
    EVERY_MS,
  );
  const rows = itemsOf(list);
  return (
    <>
      <PageTitle title="Failures" description="Failed events: reason, attempts, and next retry.">
        {mayChange && rows.length > 0 && (
          <StartBulkReplay filter={filters} count={`${rows.length}${list.hasNextPage ? "+" : ""}`} />
        )}
      </PageTitle>
      <FilterForm
        fields={FILTER_FIELDS}
        filters={{ ...filters }}
        apply={(next) => void navigate({ search: failureSearch(next) })}
      />
      <FailureActionResult message={message} replayed={replayed} close={() => setReplayed(undefined)} />
      {list.isPending && <Loading what="the failures" />}
      {list.isError && !list.isFetchNextPageError && (
        <Problem error={list.error} title="The failures could not be read" again={() => void list.refetch()} />
      )}
      {list.isSuccess && rows.length === 0 && !list.hasNextPage && (
        <EmptyState>
          No failures match. What fails is kept here, encrypted, until it is handled or discarded.
        </EmptyState>
      )}
      {rows.length > 0 && (
        <Rows
          caption="Failed events"
          columns={failureColumns({ onDone: setMessage, onReplay: setReplayed })}
          rows={rows}
          keyOf={({ id }) => id}
        />
      )}
      <InfiniteListEnd list={list} />
    </>
  );
}

const EVENT: Column<FailureView> = {
  head: "Event",
  cell: ({ source, event_id, event_type }) => (
    <>
      <PageLink to="/activity" search={{ open: openOf({ source, event_id }) }}>
        {event_id}
      </PageLink>
      <Text size="sm">
        {event_type || "(not read)"}, {source}
      </Text>
    </>
  ),
};

const REASON: Column<FailureView> = {
  head: "Reason",
  cell: ({ code, state, error }) => (
    <>
      <OutcomeBadge outcome={code} status={state === "rejected" ? 400 : 500} />
      <details>
        <summary>{error.split("\n", 1)[0]}</summary>
        <TextBlock label="The error with its stack" text={error} />
      </details>
    </>
  ),
};

const ATTEMPTS: Column<FailureView> = {
  head: "Attempts",
  cell: ({ attempts, last_failed_at }) => (
    <>
      {attempts}
      <Text size="sm">
        last <Time at={last_failed_at} />
      </Text>
    </>
  ),
};

const NEXT: Column<FailureView> = {
  head: "Next",
  cell: ({ state, next_attempt_at, gives_up_at }) => {
    if (state === "rejected") return "never: rejected";
    if (state === "exhausted") return "never: retries exhausted";
    return (
      <>
        <Time at={next_attempt_at} relative />
        {gives_up_at !== null && (
          <Text size="sm">
            last <Time at={gives_up_at} relative />
          </Text>
        )}
      </>
    );
  },
};

/** @param ends told of what came of an action, since its row may be gone then */
function failureColumns(ends: FailureActionHandlers): readonly Column<FailureView>[] {
  const actions: Column<FailureView> = {
    head: "Actions",
    cell: (failure) => <FailureActions failure={failure} {...ends} />,
  };
  return [EVENT, REASON, ATTEMPTS, NEXT, actions];
}
