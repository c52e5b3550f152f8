import { SegmentedControl, Stack } from "@mantine/core";
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { OverviewView } from "oncehook/admin-client";
import { useEffect, useRef } from "react";
import { api } from "../../client.ts";
import { useIsPast } from "../../parts/clock.ts";
import { Loading } from "../../parts/loading.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { Problem } from "../../parts/problem.tsx";
import { overviewSearch } from "../../search.ts";
import { AsOf } from "./as-of.tsx";
import { Charts } from "./charts.tsx";
import { NeedsAPerson } from "./needs-a-person.tsx";
import { Numbers } from "./numbers.tsx";
import { OpenAlerts } from "./open-alerts.tsx";
import { type Telling, useNow } from "./tally.ts";

const route = getRouteApi("/inside/");
const EVERY_MS = 15_000;
/** Two readings that did not come. */
const STALE_AFTER_MS = 2 * EVERY_MS + 5_000;
const SPANS = [
  { value: "hour", label: "Hour" },
  { value: "day", label: "Day" },
  { value: "month", label: "Month" },
];

export function OverviewPage() {
  const { span = "hour" } = overviewSearch(route.useSearch());
  const navigate = route.useNavigate();
  const now = useNow();
  const overview = useQuery({
    queryKey: ["overview", span],
    queryFn: async () => ({ read: await api.overview(span), readAt: Date.now() }),
    refetchInterval: EVERY_MS,
    placeholderData: keepPreviousData,
  });
  useFresh(now, overview.data?.read);
  return (
    <>
      <PageTitle title="Overview" says="How callbacks end, how long they take, and what needs a person now.">
        <SegmentedControl
          aria-label="Time that is shown"
          data={SPANS}
          value={span}
          onChange={(value) => void navigate({ search: overviewSearch({ span: value }) })}
        />
      </PageTitle>
      {overview.isPending && <Loading what="the overview" />}
      {overview.isError && (
        <Problem
          error={overview.error}
          title="The overview could not be read"
          again={() => void overview.refetch()}
        />
      )}
      {overview.data !== undefined && <Everything {...overview.data} now={now} />}
    </>
  );
}

/** Reads the overview again when a tally tells what is not in it: every two seconds at most, and one at a time. */
function useFresh(now: Telling, read: OverviewView | undefined): void {
  const queries = useQueryClient();
  const shown = useRef(read);
  shown.current = read;
  useEffect(() => {
    if (typeof now !== "object" || shown.current === undefined) return;
    const { callbacks, waiting, exhausted } = now.tally;
    const { failures } = shown.current;
    if (callbacks === 0 && waiting === failures.waiting && exhausted === failures.exhausted) return;
    void queries.invalidateQueries({ queryKey: ["overview"] }, { cancelRefetch: false });
  }, [now, queries]);
}

interface Props {
  readonly read: OverviewView;
  readonly readAt: number;
  readonly now: Telling;
}

function Everything({ read, readAt, now }: Props) {
  const isStale = useIsPast(readAt + STALE_AFTER_MS);
  return (
    <Stack gap="xl">
      <AsOf at={readAt} isStale={isStale} now={now} />
      <NeedsAPerson overview={read} isStale={isStale} />
      <OpenAlerts alerts={read.alerts} />
      <Numbers overview={read} now={typeof now === "object" ? now : undefined} />
      <Charts overview={read} />
    </Stack>
  );
}
