import { useQuery } from "@tanstack/react-query";
import { api } from "../../client.ts";
import { PanelFrame } from "../../panel/panel-frame.tsx";
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
  const title = data === undefined ? "Backfill" : `History of ${data.handler}`;
  return (
    <PanelFrame
      label="Backfill"
      title={title}
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
