import { useNavigate } from "@tanstack/react-router";
import { useCallback, useRef } from "react";
import { Copy } from "../../parts/copy.tsx";
import { EmptyState, Loading, Problem } from "../../parts/page-states.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { RowList, type RowListHandle } from "../../parts/row-list.tsx";
import { useListKeys } from "../../parts/use-list-keys.ts";
import { useSourceHealth, useSources } from "../../parts/use-sources.ts";
import { OAuthRedirect } from "./oauth-redirect.tsx";
import { secretsWord } from "./secrets-word.ts";
import { type ListedSource, SOURCE_HEADS, SourceRow } from "./source-row.tsx";
import "./sources.css";

const COMMAND = "npx oncehook sources add stripe";

/** The sources, a line each; a line opens the source's page. */
export function SourcesPage() {
  const health = useSourceHealth();
  const sources = useSources();
  const rows = (health.data ?? []).map((one): ListedSource => {
    const described = sources.data?.items.find(({ source }) => source === one.source);
    return { ...one, id: one.source, secrets: described && secretsWord(described) };
  });
  const handle = useRef<RowListHandle>(null);
  const navigate = useNavigate();
  const open = useCallback(
    ({ source }: Pick<ListedSource, "source">) => void navigate({ to: "/sources/$name", params: { name: source } }),
    [navigate],
  );
  useListKeys({ rows, open: undefined, openRow: open, close: () => {}, handle });
  const oauth = sources.data?.oauth ?? null;
  return (
    <div className="list-page">
      <div className="list-top">
        <PageTitle title="Sources">
          <span className="quiet">Counts and p99 of the last hour</span>
        </PageTitle>
      </div>
      <div className="list-body">
        {health.isPending && <Loading what="the sources" />}
        {[health, sources].map(
          ({ error, refetch }, index) =>
            error !== null && (
              <Problem
                // biome-ignore lint/suspicious/noArrayIndexKey: the two requests have fixed places.
                key={index}
                error={error}
                title={index === 0 ? "The sources could not be read" : "The secrets could not be read"}
                again={() => void refetch()}
              />
            ),
        )}
        {rows.length > 0 && (
          <RowList
            ref={handle}
            label="Sources"
            className="source-list"
            heads={SOURCE_HEADS}
            rows={rows}
            open={open}
            end={
              <>
                {rows.every(({ title }) => title === null) && <NoPlatform />}
                {oauth !== null && <OAuthRedirect oauth={oauth} />}
              </>
            }
          >
            {(source, place) => <SourceRow key={source.id} of={source} {...place} />}
          </RowList>
        )}
      </div>
    </div>
  );
}

/** Teaches how a platform comes here, with the command to copy. */
function NoPlatform() {
  return (
    <EmptyState>
      No platform is configured beside the built-in protocol. A command adds one to oncehook.config.ts, or to SOURCES,
      and names what to register:
      <code className="command">{COMMAND}</code>
      <div className="copy-command">
        <Copy text={COMMAND} what="command" isShort />
      </div>
    </EmptyState>
  );
}
