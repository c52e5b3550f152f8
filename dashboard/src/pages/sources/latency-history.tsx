import { SegmentedControl } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { api } from "../../client.ts";
import { Problem } from "../../parts/page-states.tsx";
import { SPANS } from "../../parts/periods.ts";
import { overviewSearch } from "../../search.ts";
import "./latency.css";
import { LatencyChart } from "./latency-chart.tsx";
import { SlowestCallbacks } from "./slowest-callbacks.tsx";

const route = getRouteApi("/inside/sources/$name");
/** A period of a longer span changes more slowly. */
const EVERY_MS = { hour: 15_000, day: 60_000, month: 300_000 } as const;

/** How long the callbacks of a source took over time, and the slowest ones. */
export function LatencyHistory({ source }: { readonly source: string }) {
  const { span = "day" } = overviewSearch(route.useSearch());
  const navigate = route.useNavigate();
  const { data, error, refetch } = useQuery({
    queryKey: ["source", source, "history", span],
    queryFn: () => api.sources.history(source, span),
    refetchInterval: EVERY_MS[span],
    placeholderData: keepPreviousData,
  });
  return (
    <section aria-labelledby="latency" className="latency">
      <div className="section-head">
        <h2 id="latency">Latency</h2>
        <SegmentedControl
          aria-label="Time range"
          data={SPANS}
          value={span}
          onChange={(value) => void navigate({ search: overviewSearch({ span: value }), resetScroll: false })}
        />
      </div>
      {error !== null && <Problem error={error} title="The latency could not be read" again={() => void refetch()} />}
      {data === undefined ? (
        <div className="latency-room" role="status">
          {error === null && <span className="quiet">Reading the latency</span>}
        </div>
      ) : (
        <>
          <LatencyChart history={data} />
          <SlowestCallbacks history={data} />
        </>
      )}
    </section>
  );
}
