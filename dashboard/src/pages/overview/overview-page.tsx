import { SegmentedControl, Stack } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { api } from "../../client.ts";
import { Loading } from "../../parts/loading.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { Problem } from "../../parts/problem.tsx";
import { overviewSearch } from "../../search.ts";
import { Charts } from "./charts.tsx";
import { NeedsAPerson } from "./needs-a-person.tsx";
import { Numbers } from "./numbers.tsx";
import { OpenAlerts } from "./open-alerts.tsx";
import { useNow } from "./tally.ts";

const route = getRouteApi("/inside/");
const EVERY_MS = 15_000;
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
    queryFn: () => api.overview(span),
    refetchInterval: EVERY_MS,
    placeholderData: keepPreviousData,
  });
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
      {overview.data !== undefined && (
        <Stack gap="xl">
          <NeedsAPerson overview={overview.data} />
          <OpenAlerts alerts={overview.data.alerts} />
          <Numbers overview={overview.data} now={now} />
          <Charts overview={overview.data} />
        </Stack>
      )}
    </>
  );
}
