import { useQuery } from "@tanstack/react-query";
import type { CallbackFilters, CallbackView } from "oncehook/admin-client";
import type { ReactNode } from "react";
import { api } from "../../client.ts";
import type { FilterField } from "../../parts/filter-form.tsx";
import { InfiniteListEnd, itemsOf, useInfiniteList } from "../../parts/infinite-list.tsx";
import { OutcomeBadge } from "../../parts/outcome-badge.tsx";
import { PageLink } from "../../parts/page-link.tsx";
import { EmptyState, Loading, Problem } from "../../parts/page-states.tsx";
import { type Column, Rows } from "../../parts/rows.tsx";
import { milliseconds, Time } from "../../parts/time.tsx";
import type { Live } from "./live.ts";

const LIMIT = 50;

interface Props {
  readonly caption: string;
  readonly filters: CallbackFilters;
  readonly columns: readonly Column<CallbackView>[];
  readonly live: Live;
  /** Shown in place of an empty list. */
  readonly nothing: ReactNode;
}

/** The callback log as an infinite list, with live callbacks above it. */
export function CallbackList({ caption, filters, columns, live, nothing }: Props) {
  const list = useInfiniteList(["callbacks", filters], (cursor) =>
    api.callbacks.list({ ...filters, ...cursor, limit: LIMIT }),
  );
  if (list.isPending) return <Loading what="the callbacks" />;
  const read = itemsOf(list);
  const listedIds = new Set(read.map(({ id }) => id));
  const isNew = ({ id }: CallbackView) => !listedIds.has(id);
  const rows = [...live.rows.filter(isNew), ...read];
  return (
    <>
      {list.isError && !list.isFetchNextPageError && (
        <Problem error={list.error} title="The callbacks could not be read" again={() => void list.refetch()} />
      )}
      {rows.length === 0 && list.data !== undefined && !list.hasNextPage && <EmptyState>{nothing}</EmptyState>}
      {rows.length > 0 && <Rows caption={caption} columns={columns} rows={rows} keyOf={({ id }) => id} isNew={isNew} />}
      <InfiniteListEnd list={list} />
    </>
  );
}

export const TIME: Column<CallbackView> = {
  head: "Time",
  cell: ({ id, timestamp }) => (
    <PageLink to="/callbacks/$id" params={{ id: String(id) }}>
      <Time at={timestamp} />
    </PageLink>
  ),
};

export const EVENT: Column<CallbackView> = {
  head: "Event",
  cell: ({ source, event_id, event_type }) => (
    <>
      {event_type ?? "no type"}
      <br />
      {event_id === null || source === null ? (
        (event_id ?? "no event id")
      ) : (
        <PageLink to="/events/$source/$event_id" params={{ source, event_id }}>
          {event_id}
        </PageLink>
      )}
    </>
  ),
};

export const ADDRESS: Column<CallbackView> = {
  head: "IP address",
  cell: ({ remote_address }) => remote_address,
};

const OUTCOME: Column<CallbackView> = {
  head: "Outcome",
  cell: ({ outcome, response_status }) => <OutcomeBadge outcome={outcome} status={response_status} />,
};
const STATUS: Column<CallbackView> = { head: "Status", cell: ({ response_status }) => response_status };
const DURATION: Column<CallbackView> = {
  head: "Duration",
  cell: ({ processing_ms }) => milliseconds(processing_ms),
};
const SOURCE: Column<CallbackView> = { head: "Source", cell: ({ source }) => source ?? "–" };

export const COLUMNS: readonly Column<CallbackView>[] = [TIME, OUTCOME, STATUS, EVENT, SOURCE, ADDRESS, DURATION];

/** The fields suggest the receiver's sources and event types. */
export function useCallbackFilterFields(): readonly FilterField[] {
  const { data } = useQuery({ queryKey: ["sources"], queryFn: api.sources.list });
  const sources = data?.items ?? [];
  const suggestions: Readonly<Record<string, readonly string[]>> = {
    source: sources.map(({ source }) => source),
    event_type: [...new Set(sources.flatMap(({ event_types }) => event_types))],
  };
  return FILTER_FIELDS.map((field) => ({ suggestions: suggestions[field.name] ?? [], ...field }));
}

const FILTER_FIELDS: readonly FilterField[] = [
  { name: "from", label: "From", isTime: true },
  { name: "to", label: "To", isTime: true },
  { name: "source", label: "Source" },
  { name: "event_type", label: "Event type" },
  { name: "event_id", label: "Event id" },
  {
    name: "status",
    label: "Status",
    placeholder: "200, 4xx, 5xx",
    suggestions: ["2xx", "4xx", "5xx", "200", "400", "401", "429", "500", "503"],
  },
  {
    name: "outcome",
    label: "Outcome",
    suggestions: [
      "success",
      "already_processed",
      "accepted",
      "ignored",
      "handshake",
      "rejected",
      "event_invalid",
      "event_type_unknown",
      "signature_mismatch",
      "endpoint_check",
      "handler_failed",
      "handler_timed_out",
      "store_unavailable",
      "overloaded",
    ],
  },
  { name: "remote_address", label: "IP address" },
  { name: "text", label: "Search body" },
];
