import { Alert, SegmentedControl, Stack, Text } from "@mantine/core";
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { OverviewView } from "oncehook/admin-client";
import { type ReactNode, useEffect, useRef } from "react";
import { api } from "../../client.ts";
import { PageLink } from "../../parts/page-link.tsx";
import { Loading, Problem } from "../../parts/page-states.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { Rows } from "../../parts/rows.tsx";
import { Time, useIsPast } from "../../parts/time.tsx";
import { overviewSearch } from "../../search.ts";
import type { AlertView } from "../../views.ts";
import { Charts } from "./charts.tsx";
import { type LiveTallyState, useLiveTally } from "./live-tally.ts";
import { OverviewNumbers } from "./numbers.tsx";

const route = getRouteApi("/inside/");
const EVERY_MS = 15_000;
/** The time of two missed readings. */
const STALE_AFTER_MS = 2 * EVERY_MS + 5_000;
const SPANS = [
  { value: "hour", label: "Hour" },
  { value: "day", label: "Day" },
  { value: "month", label: "Month" },
];

export function OverviewPage() {
  const { span = "hour" } = overviewSearch(route.useSearch());
  const navigate = route.useNavigate();
  const now = useLiveTally();
  const overview = useQuery({
    queryKey: ["overview", span],
    queryFn: async () => ({ read: await api.overview(span), readAt: Date.now() }),
    refetchInterval: EVERY_MS,
    placeholderData: keepPreviousData,
  });
  useFresh(now, overview.data?.read);
  return (
    <>
      <PageTitle title="Overview" description="Outcomes, latency, and what needs attention.">
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
      {overview.data !== undefined && <OverviewContent {...overview.data} now={now} />}
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

interface Props {
  readonly read: OverviewView;
  readonly readAt: number;
  readonly now: LiveTallyState;
}

function OverviewContent({ read, readAt, now }: Props) {
  const isStale = useIsPast(readAt + STALE_AFTER_MS);
  return (
    <Stack gap="xl">
      <AsOf at={readAt} isStale={isStale} now={now} />
      <NeedsAttention overview={read} isStale={isStale} />
      <OpenAlerts alerts={read.alerts} />
      <OverviewNumbers overview={read} now={typeof now === "object" ? now : undefined} />
      <Charts overview={read} />
    </Stack>
  );
}

interface AsOfProps {
  /** When the numbers were read, in milliseconds. */
  readonly at: number;
  readonly isStale: boolean;
  readonly now: LiveTallyState;
}

/** The age of the numbers, and whether they update by themselves. */
function AsOf({ at, isStale, now }: AsOfProps) {
  return (
    <Text size="sm" fw={isStale ? 600 : 400}>
      As of <Time at={new Date(at).toISOString()} />
      <span role="status">
        {isStale && "; updates have stopped"}
        {now === "disconnected" && "; live updates disconnected"}
      </span>
    </Text>
  );
}

function AlertState({ alert: { state, muted_until, muted_by, reason } }: { readonly alert: AlertView }) {
  if (muted_until === null) return state;
  return (
    <span title={reason ?? undefined}>
      muted until <Time at={muted_until} /> by {muted_by}
    </span>
  );
}

/** Alerts that are open or muted; nothing where there is none. */
function OpenAlerts({ alerts }: { readonly alerts: readonly AlertView[] }) {
  if (alerts.length === 0) return null;
  return (
    <section aria-labelledby="alerts">
      <h2 id="alerts">Alerts</h2>
      <Rows
        caption="Alerts"
        columns={[
          { head: "Alert", cell: ({ kind }) => kind },
          { head: "Source", cell: ({ source }) => source ?? "–" },
          { head: "Target", cell: ({ subject }) => subject ?? "–" },
          { head: "Since", cell: ({ since }) => <Time at={since} relative /> },
          { head: "State", cell: (alert) => <AlertState alert={alert} /> },
        ]}
        rows={alerts}
        keyOf={({ kind, source, subject }) => `${kind} ${source} ${subject}`}
      />
    </section>
  );
}

/** The page with the remedy. */
const LINKS: Readonly<Record<string, ReactNode>> = {
  exhausted_failures: (
    <PageLink to="/problems" search={{ failure_state: "exhausted" }}>
      View failures
    </PageLink>
  ),
  rejected_failures: (
    <PageLink to="/problems" search={{ failure_state: "rejected" }}>
      View failures
    </PageLink>
  ),
  dead_notifications: (
    <PageLink to="/problems" search={{ kind: "delivery" }}>
      View deliveries
    </PageLink>
  ),
  refused_source: (
    <PageLink to="/problems" search={{ kind: "refusal" }}>
      View refused callbacks
    </PageLink>
  ),
  previous_secret_in_use: <PageLink to="/sources">View secrets</PageLink>,
};

interface NeedsAttentionProps {
  readonly overview: OverviewView;
  /** Whether it is too old to say that all is well. */
  readonly isStale: boolean;
}

/** The problems that do not resolve by themselves. */
function NeedsAttention({ overview: { needs_attention }, isStale }: NeedsAttentionProps) {
  return (
    <section aria-labelledby="needs">
      <h2 id="needs">Needs attention</h2>
      {needs_attention.length === 0 ? (
        <Alert color={isStale ? "gray" : "green"} variant="outline">
          {isStale ? "Nothing needed attention at the last update." : "Nothing needs attention."}
        </Alert>
      ) : (
        <Alert color="orange" variant="outline">
          <ul className="plain-list">
            {needs_attention.map(({ kind, message }) => (
              <li key={`${kind} ${message}`}>
                {message} {LINKS[kind]}
              </li>
            ))}
          </ul>
        </Alert>
      )}
    </section>
  );
}
