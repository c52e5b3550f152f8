import type { CallbackView } from "oncehook/admin-client";
import { milliseconds } from "../../parts/milliseconds.ts";
import { OutcomeBadge } from "../../parts/outcome-badge.tsx";
import { PageLink } from "../../parts/page-link.tsx";
import type { Column } from "../../parts/rows.tsx";
import { Time } from "../../parts/time.tsx";

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

export const ADDRESS: Column<CallbackView> = { head: "From", cell: ({ remote_address }) => remote_address };

const OUTCOME: Column<CallbackView> = {
  head: "Outcome",
  cell: ({ outcome, response_status }) => <OutcomeBadge outcome={outcome} status={response_status} />,
};
const STATUS: Column<CallbackView> = { head: "Status", cell: ({ response_status }) => response_status };
const TOOK: Column<CallbackView> = { head: "Took", cell: ({ processing_ms }) => milliseconds(processing_ms) };
const SOURCE: Column<CallbackView> = { head: "Source", cell: ({ source }) => source ?? "–" };

export const COLUMNS: readonly Column<CallbackView>[] = [TIME, OUTCOME, STATUS, EVENT, SOURCE, ADDRESS, TOOK];
