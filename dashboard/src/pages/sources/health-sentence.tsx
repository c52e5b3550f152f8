import { outcomeCounts, type SourceHealthView } from "oncehook/admin-client";
import { Fragment } from "react";
import { Figure } from "../../parts/figure.tsx";
import { LastCallbackText } from "../../parts/last-callback.tsx";
import { PageLink } from "../../parts/page-link.tsx";
import { SourceState } from "../../parts/source-state.tsx";
import { milliseconds } from "../../parts/time.tsx";
import type { SourceView } from "../../views.ts";
import { senderName } from "./sender-name.ts";

interface Props {
  readonly source: SourceView;
  readonly health: SourceHealthView | undefined;
}

/** How the source fares, in a sentence whose numbers are links. */
export function HealthSentence({ source, health }: Props) {
  return (
    <p className="health-sentence">
      {health === undefined ? (
        <span className="quiet">Reading how it fares</span>
      ) : (
        <>
          <SourceState state={health.state} />
          {". "}
          <LastHour source={source} health={health} />
          <Lateness {...health} />
          {(health.state === "failing" || health.state === "refusing") && (
            <PageLink to="/problems" search={{ source: health.source }}>
              See its problems
            </PageLink>
          )}
        </>
      )}
    </p>
  );
}

interface LastHourProps extends Props {
  readonly health: SourceHealthView;
}

function LastHour({ source, health }: LastHourProps) {
  const { source: name, state, from, outcomes } = health;
  const last = health.last_callback_at !== null && (
    <>
      The last callback came <LastCallbackText {...health} />.{" "}
    </>
  );
  if (state === "silent")
    return <>None came in the last hour, although some came in most hours of the day before. {last}</>;
  if (state === "idle") return last === false ? "None came in the last day: register its URL, and send a test." : last;
  const counts = outcomeCounts(outcomes);
  return (
    <>
      {senderName(source)} in the last hour:{" "}
      {(["handled", "refused", "failed"] as const).map((outcome) => (
        <Fragment key={outcome}>
          <Figure count={counts[outcome]} word={outcome} search={{ source: name, from, outcome }} />
          {outcome === "failed" ? ". " : ", "}
        </Fragment>
      ))}
      {last}
    </>
  );
}

function Lateness({ p99_ms, deadline_ms, title }: Pick<SourceHealthView, "p99_ms" | "deadline_ms" | "title">) {
  if (p99_ms === null || deadline_ms === null || p99_ms <= deadline_ms) return null;
  return (
    <strong className="late">
      Its p99 of {milliseconds(p99_ms)} is past the deadline of {deadline_ms / 1_000} s: {title} sends such callbacks
      again.{" "}
    </strong>
  );
}
