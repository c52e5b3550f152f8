import { Anchor, Button } from "@mantine/core";
import "./activity.css";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { CallbackFilters } from "oncehook/admin-client";
import { useCallback, useEffect, useMemo, useRef } from "react";
import { api, isStatus } from "../../client.ts";
import { EventPanel } from "../../panel/event-panel.tsx";
import { EmptyState, Loading, Problem } from "../../parts/page-states.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { RowList, type RowListHandle, SkipToList } from "../../parts/row-list.tsx";
import { useTimeZone } from "../../parts/time-zone.tsx";
import { useListKeys } from "../../parts/use-list-keys.ts";
import { useSession } from "../../session.ts";
import { type ActivitySearch, activitySearch, apiFilters } from "./activity-filters.ts";
import { ActivityRow } from "./activity-row.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { LiveLabel, NewPill } from "./live-label.tsx";
import { OutcomeCounts } from "./outcome-counts.tsx";
import { queryText, searchedTexts } from "./query-text.ts";
import { RunAgainAll } from "./run-again-all.tsx";
import { SearchEnd, useReadingOn } from "./search-end.tsx";
import { type ActivityRowView, useActivity } from "./use-activity.ts";

const route = getRouteApi("/inside/activity");
const HEADS = ["Time", "Source", "Type", "Outcome", "Status and reason", "Event", "Duration"];
const HEADS_OF_SEARCH = HEADS.map((head) => (head === "Status and reason" ? "Status and match" : head));

/** Every callback, refusal and event in one list, with its panel beside it. */
export function ActivityPage() {
  const search = activitySearch(route.useSearch());
  const { open, ...filtersOfAddress } = search;
  const key = JSON.stringify(filtersOfAddress);
  // A preset counts back from when it was chosen, so that the live stream is not opened again and again.
  const filters = useMemo(() => apiFilters(JSON.parse(key) as ActivitySearch, Date.now()), [key]);
  const searched = useMemo(() => searchedTexts(JSON.parse(key) as ActivitySearch), [key]);
  const query = queryText(filtersOfAddress);
  const navigate = route.useNavigate();
  const zone = useTimeZone();
  const { list, rows, arrivals, state, showNew } = useActivity(query, filters);
  const { readOn, ...searching } = useReadingOn(list, query);
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
  const openRow = useCallback(({ id }: ActivityRowView) => setOpen(String(id), open !== undefined), [open, setOpen]);
  useListKeys({ rows, open, openRow, close: () => setOpen(undefined), handle });
  const change = (next: ActivitySearch) => void navigate({ search: (was) => ({ ...activitySearch(was), ...next }) });
  const openId = open !== undefined && /^\d+$/.test(open) ? Number(open) : undefined;
  return (
    <div className="list-page">
      <SkipToList />
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
          {filters !== undefined && (
            <div className="title-actions">
              <RunAgainAll filters={filters} />
              <ExportLinks filters={filters} />
            </div>
          )}
        </PageTitle>
        <OutcomeCounts search={search} change={change} shown={rows.length} hasMore={list.hasNextPage} />
        <FilterBar search={search} change={change} />
      </div>
      <div className="list-body">
        {list.isPending && <Loading what="the callbacks" />}
        {list.isError && !list.isFetchNextPageError && (
          <Problem error={list.error} title={titleOf(list.error)} again={() => void list.refetch()} />
        )}
        {rows.length > 0 && (
          <RowList
            ref={handle}
            label="Callbacks, newest first"
            className="activity-list"
            heads={searched.length > 0 ? HEADS_OF_SEARCH : HEADS}
            rows={rows}
            open={openRow}
            readOn={readOn}
            end={<SearchEnd list={list} {...searching} />}
          >
            {(callback, place) => (
              <ActivityRow
                key={callback.id}
                callback={callback}
                {...place}
                zone={zone}
                isOpen={callback.id === openId}
                searched={searched}
              />
            )}
          </RowList>
        )}
        {isEmpty && list.hasNextPage && <SearchEnd list={list} {...searching} />}
        {isEmpty && !list.hasNextPage && <NoRows search={filtersOfAddress} clear={change} />}
        {open !== undefined && <EventPanel key={open} id={open} close={() => setOpen(undefined)} />}
      </div>
    </div>
  );
}

function titleOf(error: unknown): string {
  return isStatus(error, 400) ? "This query is not understood" : "The callbacks could not be read";
}

/** All callbacks that match the filters, as a file. */
function ExportLinks({ filters }: { readonly filters: CallbackFilters }) {
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
  readonly clear: (next: ActivitySearch) => void;
}

function NoRows({ search, clear }: NoRowsProps) {
  const names = Object.entries(search).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (names.length === 0) return <NoneYet />;
  return (
    <EmptyState>
      {search.q === undefined ? "No callback fits these filters." : "No callback has this value."}
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
  const type = source?.sample_type ?? null;
  return (
    <EmptyState>
      No callback has arrived yet. Register {source?.addresses[0]?.url ?? "the address of a source"} with{" "}
      {source?.about?.title ?? "your platform"}
      {sandbox && source !== undefined && type !== null && (
        <>
          , or send one yourself:
          <code className="command">{`npx oncehook send --source ${source.source} ${type}`}</code>
        </>
      )}
    </EmptyState>
  );
}
