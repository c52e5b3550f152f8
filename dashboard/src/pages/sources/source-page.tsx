import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { SourceHealthView } from "oncehook/admin-client";
import { useRef } from "react";
import { api } from "../../client.ts";
import { PageLink } from "../../parts/page-link.tsx";
import { EmptyState, Loading, Problem } from "../../parts/page-states.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import type { RowListHandle } from "../../parts/row-list.tsx";
import { useListKeys } from "../../parts/use-list-keys.ts";
import { useSourceHealth, useSources } from "../../parts/use-sources.ts";
import { useSession } from "../../session.ts";
import type { HandlerView, SourceView } from "../../views.ts";
import { EventKey } from "./event-key.tsx";
import { HandledTypes } from "./handled-types.tsx";
import { HealthSentence } from "./health-sentence.tsx";
import { IgnoredTypes } from "./ignored-types.tsx";
import { LatencyHistory } from "./latency-history.tsx";
import { Reconciliation } from "./reconciliation.tsx";
import { Registration } from "./registration.tsx";
import { SetupGuide } from "./setup-guide.tsx";
import { SourceSecrets } from "./source-secrets.tsx";
import "./sources.css";

const route = getRouteApi("/inside/sources/$name");
const EVERY_MS = 30_000;

/** One source: how it fares, what to register, its secrets, its latency, and what of it is not handled. */
export function SourcePage() {
  const { name } = route.useParams();
  const sources = useSources();
  const health = useSourceHealth();
  useSourceKeys(name, health.data ?? []);
  const source = sources.data?.items.find((one) => one.source === name);
  const { sandbox } = useSession();
  return (
    <>
      <PageTitle
        title={name}
        parent={
          <PageLink to="/sources" underline="hover">
            Sources
          </PageLink>
        }
      >
        {sandbox && source !== undefined && (
          <PageLink to="/sandbox" search={{ source: name }} underline="never" className="button-link">
            Send a test
          </PageLink>
        )}
      </PageTitle>
      {sources.isPending && <Loading what="the source" />}
      {sources.isError && (
        <Problem error={sources.error} title="The source could not be read" again={() => void sources.refetch()} />
      )}
      {sources.isSuccess && source === undefined && (
        <EmptyState>
          There is no source called {name}. <PageLink to="/sources">All sources</PageLink>
        </EmptyState>
      )}
      {source !== undefined && (
        <SourceContent
          key={name}
          source={source}
          health={health.data?.find((one) => one.source === name)}
          handlers={sources.data?.handlers.filter((one) => one.source === name) ?? []}
        />
      )}
    </>
  );
}

/** `j` and `k` go to the next and the previous source, Escape to the list. */
function useSourceKeys(name: string, sources: readonly SourceHealthView[]): void {
  const navigate = route.useNavigate();
  const handle = useRef<RowListHandle>(null);
  const openRow = ({ id }: { readonly id: string }) =>
    void navigate({ to: "/sources/$name", params: { name: id }, search: (was) => was, replace: true });
  const close = () => void navigate({ to: "/sources" });
  const rows = sources.map(({ source: id }) => ({ id }));
  useListKeys({ rows, open: name, openRow, close, handle });
}

interface ContentProps {
  readonly source: SourceView;
  /** Undefined until it is read. */
  readonly health: SourceHealthView | undefined;
  readonly handlers: readonly HandlerView[];
}

function SourceContent({ source, health, handlers }: ContentProps) {
  const { source: name } = source;
  const details = useQuery({
    queryKey: ["source", name, "details"],
    queryFn: () => api.sources.details(name),
    refetchInterval: EVERY_MS,
  });
  return (
    <div className="source-page">
      <HealthSentence source={source} health={health} />
      <div className="source-main">
        <LatencyHistory source={name} />
        <HandledTypes source={source} handlers={handlers} />
        <IgnoredTypes source={source} details={details} />
      </div>
      <div className="source-side">
        <Registration source={source} lastCheck={details.data?.last_check ?? null} />
        <SourceSecrets source={source} />
        <SetupGuide source={source} />
        <EventKey source={source} />
        <Reconciliation source={source} details={details} />
      </div>
    </div>
  );
}
