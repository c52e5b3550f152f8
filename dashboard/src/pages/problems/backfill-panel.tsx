import { useQuery } from "@tanstack/react-query";
import type { BackfillView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { PanelFrame } from "../../panel/panel-frame.tsx";
import { handlerName } from "../../parts/handler-name.ts";
import { Loading, Problem } from "../../parts/page-states.tsx";
import { Time } from "../../parts/time.tsx";
import { BackfillProgress } from "./backfill-progress.tsx";

const EVERY_MS = 1_000;

interface Props {
  readonly id: number;
  readonly close: () => void;
}

/** One backfill: its progress, and the way to pause or end it. */
export function BackfillPanel({ id, close }: Props) {
  const backfill = useQuery({
    queryKey: ["backfills", "one", id],
    queryFn: () => api.backfills.get(id),
    refetchInterval: ({ state: { data } }) => (data?.ended_at === null ? EVERY_MS : false),
  });
  const { data } = backfill;
  return (
    <PanelFrame
      label="Backfill"
      title={data === undefined ? "Backfill" : <Title backfill={data} />}
      beside={data !== undefined && <Time at={data.started_at} relative />}
      close={close}
    >
      {backfill.isPending && <Loading what="the backfill" />}
      {backfill.isError && (
        <Problem error={backfill.error} title="The backfill could not be read" again={() => void backfill.refetch()} />
      )}
      {data !== undefined && (
        <div className="panel-content">
          <BackfillProgress backfill={data} />
        </div>
      )}
    </PanelFrame>
  );
}

function Title({ backfill }: { readonly backfill: BackfillView }) {
  const { name, of } = handlerName(backfill);
  return (
    <>
      {name} <span className="quiet">· {of}</span>
    </>
  );
}
