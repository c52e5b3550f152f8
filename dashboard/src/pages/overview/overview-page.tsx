import { SegmentedControl } from "@mantine/core";
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { OverviewView } from "oncehook/admin-client";
import { useEffect, useRef } from "react";
import { OVERVIEW_EVERY_MS, overviewQuery } from "../../parts/overview-query.ts";
import { Loading, Problem } from "../../parts/page-states.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { SPANS } from "../../parts/periods.ts";
import { Time, useIsPast } from "../../parts/time.tsx";
import { useSourceHealth } from "../../parts/use-sources.ts";
import { overviewSearch } from "../../search.ts";
import { type LiveTallyState, useLiveTally } from "./live-tally.ts";
import { OutcomeChart } from "./outcome-chart.tsx";
import "./overview.css";
import { ProblemCards } from "./problem-cards.tsx";
import { SourceRows } from "./source-rows.tsx";
import { StateSentence } from "./state-sentence.tsx";

const route = getRouteApi("/inside/");
/** The time of two missed readings. */
const STALE_AFTER_MS = 2 * OVERVIEW_EVERY_MS + 5_000;
const RATE = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

/** Whether all is well, what is wrong, how each source fares, and the outcomes over time: one screen. */
export function OverviewPage() {
  const { span = "hour" } = overviewSearch(route.useSearch());
  const navigate = route.useNavigate();
  const now = useLiveTally();
  const overview = useQuery({ ...overviewQuery(span), placeholderData: keepPreviousData });
  useFresh(now, overview.data?.read);
  // Here, so that both are read at once.
  const hasSources = !useSourceHealth().isPending;
  return (
    <>
      <PageTitle title="Overview">
        {overview.data !== undefined && <AsOf at={overview.data.readAt} now={now} />}
        <SegmentedControl
          aria-label="Time range"
          data={SPANS}
          value={span}
          onChange={(value) => void navigate({ search: overviewSearch({ span: value }) })}
        />
      </PageTitle>
      {overview.isPending && <Loading what="the overview" />}
      {overview.isError && (
        <Problem error={overview.error} title="The overview could not be read" again={() => void overview.refetch()} />
      )}
      {overview.data !== undefined && <OverviewContent {...overview.data} hasSources={hasSources} />}
    </>
  );
}

/** Reads the overview again after a tally with new counts, every two seconds at most, one at a time. */
function useFresh(now: LiveTallyState, read: OverviewView | undefined): void {
  const queries = useQueryClient();
  const shown = useRef(read);
  shown.current = read;
  useEffect(() => {
    if (typeof now !== "object" || shown.current === undefined) return;
    const { callbacks, waiting, exhausted, rejected } = now.tally;
    const { failures } = shown.current;
    const isSame = waiting === failures.waiting && exhausted === failures.exhausted;
    if (callbacks === 0 && isSame && rejected === failures.rejected) return;
    void queries.invalidateQueries({ queryKey: ["overview"] }, { cancelRefetch: false });
  }, [now, queries]);
}

interface ContentProps {
  readonly read: OverviewView;
  readonly readAt: number;
  readonly hasSources: boolean;
}

function OverviewContent({ read, readAt, hasSources }: ContentProps) {
  const isStale = useIsPast(readAt + STALE_AFTER_MS);
  return (
    <div className="overview">
      <StateSentence overview={read} isStale={isStale} />
      <ProblemCards overview={read} isStale={isStale} />
      <SourceRows />
      {/* Below rows that are still being read it would move as they come. */}
      {hasSources && <OutcomeChart overview={read} />}
    </div>
  );
}

interface AsOfProps {
  /** When the numbers were read, in milliseconds. */
  readonly at: number;
  readonly now: LiveTallyState;
}

/** The age of the numbers, the rate, and whether they update by themselves. */
function AsOf({ at, now }: AsOfProps) {
  const isStale = useIsPast(at + STALE_AFTER_MS);
  const rate = typeof now === "object" ? now.rate : undefined;
  return (
    <span className="as-of" data-stale={isStale}>
      {rate !== undefined && `${RATE.format(rate)} callbacks/s · `}
      As of <Time at={new Date(at).toISOString()} />
      <span role="status">
        {isStale && "; updates have stopped"}
        {now === "disconnected" && "; live updates disconnected"}
      </span>
    </span>
  );
}
