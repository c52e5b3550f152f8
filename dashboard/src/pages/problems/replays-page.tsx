import { getRouteApi, useParams } from "@tanstack/react-router";
import type { BulkReplayView } from "oncehook/admin-client";
import { useCallback, useRef } from "react";
import { api } from "../../client.ts";
import { itemsOf, useInfiniteList } from "../../parts/infinite-list.tsx";
import { ListEnd } from "../../parts/list-end.tsx";
import { PageLink } from "../../parts/page-link.tsx";
import { EmptyState, Loading, Problem } from "../../parts/page-states.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { Cell, ListRow, RowList, type RowListHandle, type RowPlace } from "../../parts/row-list.tsx";
import { Time } from "../../parts/time.tsx";
import { useListKeys } from "../../parts/use-list-keys.ts";
import "./problems.css";
import { actorName, useMayChange } from "../../session.ts";
import { COUNT } from "./problem-text.ts";
import { ReplayPanel } from "./replay-panel.tsx";
import { replayLabel, replayTone } from "./replay-result.tsx";
import { useReplayedEvents } from "./use-replayed-events.ts";

const route = getRouteApi("/inside/problems/replays");
const EVERY_MS = 2_000;
const HEADS = ["State", "Events", "Started", "By", "Progress", "Failed", "Ended"];

/** Replays of many failures, newest first, and the panel of the one that is open. */
export function ReplaysPage() {
  const { id: open } = useParams({ strict: false });
  const navigate = route.useNavigate();
  const mayChange = useMayChange();
  const list = useInfiniteList(["bulk-replays", "list"], api.bulkReplays.list, EVERY_MS);
  const rows = itemsOf(list);
  const handle = useRef<RowListHandle>(null);
  const close = () => void navigate({ to: "/problems/replays", search: (was) => was, resetScroll: false });
  const openRow = useCallback(
    ({ id }: BulkReplayView) =>
      void navigate({
        to: "/problems/replays/$id",
        params: { id: String(id) },
        search: (was) => was,
        replace: open !== undefined,
        resetScroll: false,
      }),
    [navigate, open],
  );
  useListKeys({ rows, open, openRow, close, handle });
  return (
    <div className="list-page">
      <div className="list-top">
        <PageTitle title="Bulk replays" />
        {mayChange && (
          <p className="quiet list-hint">
            Start one from a <PageLink to="/problems">problem</PageLink>, or with <em>Run all handled again…</em> from
            the events of a source in{" "}
            <PageLink to="/activity" search={{ outcome: "handled" }}>
              Activity
            </PageLink>
            .
          </p>
        )}
      </div>
      <div className="list-body">
        {list.isPending && <Loading what="the bulk replays" />}
        {list.isError && !list.isFetchNextPageError && (
          <Problem error={list.error} title="The bulk replays could not be read" again={() => void list.refetch()} />
        )}
        {list.isSuccess && rows.length === 0 && (
          <EmptyState>
            There has been none. Open a <PageLink to="/problems">problem</PageLink> and replay all of its events, or
            filter them on the command line:
            <code className="command">npx oncehook replay --type invoice.paid --wait</code>
          </EmptyState>
        )}
        {rows.length > 0 && (
          <RowList
            ref={handle}
            label="Bulk replays, newest first"
            className="replay-list"
            heads={HEADS}
            rows={rows}
            open={openRow}
            end={<ListEnd list={list} />}
          >
            {(replay, place) => (
              <ReplayRow key={replay.id} replay={replay} {...place} isOpen={String(replay.id) === open} />
            )}
          </RowList>
        )}
        {open !== undefined && <ReplayPanel key={open} id={Number(open)} close={close} />}
      </div>
    </div>
  );
}

interface RowProps extends RowPlace {
  readonly replay: BulkReplayView;
  readonly isOpen: boolean;
}

function ReplayRow({ replay, index, top, isOpen }: RowProps) {
  const { id, started_at, created_by, done, total, failed, ended_at } = replay;
  const events = useReplayedEvents(replay);
  return (
    <ListRow id={id} index={index} top={top} className="replay-row" isOpen={isOpen}>
      <Cell name="state">
        <span className="outcome" data-tone={replayTone(replay)}>
          {replayLabel(replay)}
        </span>
      </Cell>
      <Cell name="what">{events}</Cell>
      <Cell name="first">
        <Time at={started_at} isShort />
      </Cell>
      <Cell name="by">{actorName(created_by)}</Cell>
      <Cell name="count">
        {COUNT.format(done)} of {COUNT.format(total)}
      </Cell>
      <Cell name="failed">{COUNT.format(failed)}</Cell>
      <Cell name="last">
        <Time at={ended_at} isShort />
      </Cell>
    </ListRow>
  );
}
