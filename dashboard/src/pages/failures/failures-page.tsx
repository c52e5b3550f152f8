import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../client.ts";
import { EndlessEnd, itemsOf, useEndless } from "../../parts/endless.tsx";
import { type FilterField, FilterForm } from "../../parts/filter-form.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Nothing } from "../../parts/nothing.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Rows } from "../../parts/rows.tsx";
import { failureSearch } from "../../search.ts";
import { useMayChange } from "../../session.ts";
import { failureColumns } from "./failure-columns.tsx";
import { FailureEnds, type Replayed } from "./failure-ends.tsx";
import { StartBulkReplay } from "./start-bulk-replay.tsx";

const route = getRouteApi("/inside/failures");
const EVERY_MS = 10_000;
const FIELDS: readonly FilterField[] = [
  { name: "state", label: "State", options: ["waiting", "exhausted"] },
  { name: "source", label: "Source" },
  { name: "event_type", label: "Event type" },
  {
    name: "code",
    label: "Code",
    suggestions: [
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
  const [said, setSaid] = useState<string>();
  const [replayed, setReplayed] = useState<Replayed>();
  const mayChange = useMayChange();
  const list = useEndless(
    ["failures", filters],
    (cursor) => api.failures.list({ ...filters, ...cursor }),
    EVERY_MS,
  );
  const rows = itemsOf(list);
  return (
    <>
      <PageTitle
        title="Failures"
        says="Events whose handler failed: why, how often, and when it is tried next."
      >
        {mayChange && rows.length > 0 && <StartBulkReplay filter={filters} />}
      </PageTitle>
      <FilterForm
        fields={FIELDS}
        filters={{ ...filters }}
        apply={(next) => void navigate({ search: failureSearch(next) })}
      />
      <FailureEnds said={said} replayed={replayed} close={() => setReplayed(undefined)} />
      {list.isPending && <Loading what="the failures" />}
      {list.isError && !list.isFetchNextPageError && (
        <Problem
          error={list.error}
          title="The failures could not be read"
          again={() => void list.refetch()}
        />
      )}
      {list.isSuccess && rows.length === 0 && !list.hasNextPage && (
        <Nothing>
          No event that fits has failed. What fails is kept here, encrypted, until it is handled or discarded.
        </Nothing>
      )}
      {rows.length > 0 && (
        <Rows
          caption="Failed events"
          columns={failureColumns({ onEnd: setSaid, onReplay: setReplayed })}
          rows={rows}
          keyOf={({ id }) => id}
        />
      )}
      <EndlessEnd list={list} />
    </>
  );
}
