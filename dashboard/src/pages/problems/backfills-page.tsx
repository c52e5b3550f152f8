import { Button } from "@mantine/core";
import { getRouteApi, useParams } from "@tanstack/react-router";
import type { BackfillView } from "oncehook/admin-client";
import { useCallback, useRef, useState } from "react";
import { api } from "../../client.ts";
import { handlerName } from "../../parts/handler-name.ts";
import { itemsOf, useInfiniteList } from "../../parts/infinite-list.tsx";
import { ListEnd } from "../../parts/list-end.tsx";
import { EmptyState, Loading, Problem } from "../../parts/page-states.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { Cell, ListRow, RowList, type RowListHandle, type RowPlace } from "../../parts/row-list.tsx";
import { Time } from "../../parts/time.tsx";
import { useListKeys } from "../../parts/use-list-keys.ts";
import { actorName, useMayChange } from "../../session.ts";
import "./problems.css";
import { BackfillPanel } from "./backfill-panel.tsx";
import { backfillTone } from "./backfill-progress.tsx";
import { COUNT, WORK_STATES } from "./problem-text.ts";
import { StartBackfill } from "./start-backfill.tsx";

const route = getRouteApi("/inside/problems/backfills");
const EVERY_MS = 2_000;
const HEADS = ["State", "Handler", "Started", "By", "Accepted", "Already run", "Ended"];

/** Histories that handlers got, newest first. `?handler=` opens the dialog that starts one. */
export function BackfillsPage() {
  const { id: open } = useParams({ strict: false });
  const { handler: asked } = route.useSearch();
  const [isAsking, setAsking] = useState(asked !== undefined);
  const navigate = route.useNavigate();
  const mayChange = useMayChange();
  const list = useInfiniteList(["backfills", "list"], api.backfills.list, EVERY_MS);
  const rows = itemsOf(list);
  const handle = useRef<RowListHandle>(null);
  const close = () => void navigate({ to: "/problems/backfills", search: { handler: undefined }, resetScroll: false });
  const openRow = useCallback(
    ({ id }: BackfillView) =>
      void navigate({
        to: "/problems/backfills/$id",
        params: { id: String(id) },
        search: { handler: undefined },
        replace: open !== undefined,
        resetScroll: false,
      }),
    [navigate, open],
  );
  useListKeys({ rows, open, openRow, close, handle });
  const started = (backfill: BackfillView) => {
    setAsking(false);
    openRow(backfill);
  };
  const stopAsking = () => {
    setAsking(false);
    if (asked !== undefined)
      void navigate({ to: ".", search: { handler: undefined }, replace: true, resetScroll: false });
  };
  return (
    <div className="list-page">
      <div className="list-top">
        <PageTitle title="Backfills">
          {mayChange && <Button onClick={() => setAsking(true)}>Start a backfill</Button>}
        </PageTitle>
      </div>
      <div className="list-body">
        {list.isPending && <Loading what="the backfills" />}
        {list.isError && !list.isFetchNextPageError && (
          <Problem error={list.error} title="The backfills could not be read" again={() => void list.refetch()} />
        )}
        {list.isSuccess && rows.length === 0 && (
          <EmptyState>
            There has been none. A backfill gives a new handler the events that came before it, once each. On the
            command line:
            <code className="command">npx oncehook backfill 'stripe#audit' --since 30d --dry-run</code>
          </EmptyState>
        )}
        {rows.length > 0 && (
          <RowList
            ref={handle}
            label="Backfills, newest first"
            className="replay-list"
            heads={HEADS}
            rows={rows}
            open={openRow}
            end={<ListEnd list={list} />}
          >
            {(backfill, place) => (
              <BackfillRow key={backfill.id} backfill={backfill} {...place} isOpen={String(backfill.id) === open} />
            )}
          </RowList>
        )}
        {open !== undefined && <BackfillPanel key={open} id={Number(open)} close={close} />}
      </div>
      {mayChange && isAsking && <StartBackfill handler={asked ?? ""} started={started} close={stopAsking} />}
    </div>
  );
}

interface RowProps extends RowPlace {
  readonly backfill: BackfillView;
  readonly isOpen: boolean;
}

function BackfillRow({ backfill, index, top, isOpen }: RowProps) {
  const { id, started_at, created_by, accepted, already_taken, ended_at } = backfill;
  const { name, of } = handlerName(backfill);
  return (
    <ListRow id={id} index={index} top={top} className="replay-row backfill-row" isOpen={isOpen}>
      <Cell name="state">
        <span className="outcome" data-tone={backfillTone(backfill)}>
          {WORK_STATES[backfill.state]}
        </span>
      </Cell>
      <Cell name="what" title={backfill.handler}>
        {name} <span className="quiet">· {of}</span>
      </Cell>
      <Cell name="first">
        <Time at={started_at} isShort />
      </Cell>
      <Cell name="by">{actorName(created_by)}</Cell>
      <Cell name="count">{COUNT.format(accepted)}</Cell>
      <Cell name="failed">{COUNT.format(already_taken)}</Cell>
      <Cell name="last">
        <Time at={ended_at} isShort />
      </Cell>
    </ListRow>
  );
}
