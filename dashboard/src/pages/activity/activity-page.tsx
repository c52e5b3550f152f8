import { Anchor, Button } from "@mantine/core";
import "./activity.css";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { CallbackRowView } from "oncehook/admin-client";
import { useCallback, useEffect, useMemo, useRef } from "react";
import { api } from "../../client.ts";
import { EventPanel } from "../../panel/event-panel.tsx";
import { ListEnd } from "../../parts/list-end.tsx";
import { EmptyState, Loading, Problem } from "../../parts/page-states.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { RowList, type RowListHandle } from "../../parts/row-list.tsx";
import { useTimeZone } from "../../parts/time-zone.tsx";
import { useListKeys } from "../../parts/use-list-keys.ts";
import { useSession } from "../../session.ts";
import { type ActivitySearch, activitySearch, apiFilters } from "./activity-filters.ts";
import { ActivityRow } from "./activity-row.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { LiveLabel, NewPill } from "./live-label.tsx";
import { OutcomeCounts } from "./outcome-counts.tsx";
import { RunAgainAll } from "./run-again-all.tsx";
import { useActivity } from "./use-activity.ts";

const route = getRouteApi("/inside/activity");
const HEADS = ["Time", "Source", "Type", "Outcome", "Status and reason", "Event", "Duration"];

/** Every callback, refusal and event in one list, with its panel beside it. */
export function ActivityPage() {
  const search = activitySearch(route.useSearch());
  const { open, ...filtersOfAddress } = search;
  const key = JSON.stringify(filtersOfAddress);
  // A preset counts back from when it was chosen, so that scrolling does not change what is listed.
  const filters = useMemo(() => apiFilters(JSON.parse(key) as ActivitySearch, Date.now()), [key]);
  const navigate = route.useNavigate();
  const zone = useTimeZone();
  const { list, rows, arrivals, state, showNew } = useActivity(filters);
  const handle = useRef<RowListHandle>(null);
  const isEmpty = rows.length === 0 && list.isSuccess;
  // In an empty list nothing can move.
  useEffect(() => {
    if (isEmpty && arrivals.held.length > 0) showNew();
  }, [isEmpty, arrivals.held.length, showNew]);
  const setOpen = useCallback(
    (id: string | undefined, replace = false) =>
      void navigate({ search: (was) => ({ ...was, open: id }), replace, resetScroll: false }),
    [navigate],
  );
  const openRow = useCallback(({ id }: CallbackRowView) => setOpen(String(id), open !== undefined), [open, setOpen]);
  useListKeys({ rows, open, openRow, close: () => setOpen(undefined), handle });
  const { hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = list;
  const readOn = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage && !isFetchNextPageError) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage]);
  const change = (next: ActivitySearch) => void navigate({ search: (was) => ({ ...activitySearch(was), ...next }) });
  const openId = open !== undefined && /^\d+$/.test(open) ? Number(open) : undefined;
  return (
    <div className="list-page">
      <div className="list-top">
        <PageTitle title="Activity">
          <LiveLabel state={state} />
          <NewPill
            arrivals={arrivals}
            show={() => {
              showNew();
              handle.current?.scrollToTop();
            }}
          />
          <RunAgainAll filters={filters} />
          <ExportLinks filters={filters} />
        </PageTitle>
        <OutcomeCounts search={search} change={change} />
        <FilterBar search={search} change={change} />
      </div>
      <div className="list-body">
        {list.isPending && <Loading what="the callbacks" />}
        {list.isError && !isFetchNextPageError && (
          <Problem error={list.error} title="The callbacks could not be read" again={() => void list.refetch()} />
        )}
        {rows.length > 0 && (
          <RowList
            ref={handle}
            label="Callbacks, newest first"
            className="activity-list"
            heads={HEADS}
            rows={rows}
            open={openRow}
            readOn={readOn}
            end={<ListEnd list={list} />}
          >
            {(callback, place) => (
              <ActivityRow
                key={callback.id}
                callback={callback}
                {...place}
                zone={zone}
                isOpen={callback.id === openId}
                searched={search.text}
              />
            )}
          </RowList>
        )}
        {isEmpty && <NoRows search={filtersOfAddress} list={list} clear={change} />}
        {open !== undefined && <EventPanel key={open} id={open} close={() => setOpen(undefined)} />}
      </div>
    </div>
  );
}

/** All callbacks that match the filters, as a file. */
function ExportLinks({ filters }: { readonly filters: ReturnType<typeof apiFilters> }) {
  return (
    <span className="export">
      Export
      {(["csv", "ndjson"] as const).map((format) => (
        <Anchor key={format} href={api.callbacks.exportUrl(filters, format)} download={`callbacks.${format}`}>
          {format.toUpperCase()}
        </Anchor>
      ))}
    </span>
  );
}

interface NoRowsProps {
  readonly search: ActivitySearch;
  readonly list: ReturnType<typeof useActivity>["list"];
  readonly clear: (next: ActivitySearch) => void;
}

function NoRows({ search, list, clear }: NoRowsProps) {
  const names = Object.entries(search).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (list.hasNextPage) return <ListEnd list={list} />;
  if (names.length === 0) return <NoneYet />;
  return (
    <EmptyState>
      No callback fits these filters.
      <Button
        variant="default"
        mt="sm"
        onClick={() => clear(Object.fromEntries(names.map((name) => [name, undefined])))}
      >
        Clear filters
      </Button>
    </EmptyState>
  );
}

/** Teaches how the list fills, with the command to copy. */
function NoneYet() {
  const { sandbox } = useSession();
  const { data } = useQuery({ queryKey: ["sources"], queryFn: api.sources.list });
  const source = data?.items.find(({ about }) => about !== null) ?? data?.items[0];
  const type = source?.event_types.find((one) => !one.includes("*")) ?? "invoice.paid";
  return (
    <EmptyState>
      No callback has arrived yet. Register {source?.addresses[0]?.url ?? "the address of a source"} with{" "}
      {source?.about?.title ?? "your platform"}
      {sandbox && source !== undefined && (
        <>
          , or send one yourself:
          <code className="command">{`npx oncehook send --source ${source.source} ${type}`}</code>
        </>
      )}
    </EmptyState>
  );
}
