import type { UseQueryResult } from "@tanstack/react-query";
import type { SourceDetailsView } from "oncehook/admin-client";
import { Facts } from "../../parts/facts.tsx";
import { Time } from "../../parts/time.tsx";
import type { SourceView } from "../../views.ts";
import { Command } from "./command.tsx";
import { hoursText } from "./retry-text.ts";

const SETTING = 'reconcile: { apiKey: "…", every: "1h" }';

interface Props {
  readonly source: SourceView;
  readonly details: UseQueryResult<SourceDetailsView>;
}

/** Whether events that never arrived are looked for at the platform, and how far. */
export function Reconciliation({ source: { source, about }, details: { data } }: Props) {
  // Only a platform has a list that can be asked.
  if (about === null || about.proof === "own") return null;
  return (
    <section aria-labelledby="reconcile">
      <h2 id="reconcile">Missing events</h2>
      {data === undefined && <p className="quiet">Reading the reconciliation</p>}
      {data?.reconcile === null && <NotAsked about={about} />}
      {data !== undefined && data.reconcile !== null && (
        <>
          <ReconcileFacts of={data.reconcile} />
          <p className="quiet">What is missing now; nothing is changed:</p>
          <Command text={`npx oncehook reconcile ${source} --since 2d --dry-run`} />
        </>
      )}
    </section>
  );
}

/** @param about of a platform; the setting of those that can be asked */
function NotAsked({ about: { title, lists_events } }: { readonly about: NonNullable<SourceView["about"]> }) {
  if (!lists_events)
    return <p className="quiet">{title} has no list of its events, in which missing ones could be looked for.</p>;
  return (
    <>
      <p className="quiet">
        Missing events are not looked for. To ask {title} for them, add this to the source in oncehook.config.ts:
      </p>
      <Command text={SETTING} what="setting" />
    </>
  );
}

function ReconcileFacts({ of }: { readonly of: NonNullable<SourceDetailsView["reconcile"]> }) {
  const { every_seconds, through, running, found } = of;
  const interval = every_seconds === null ? undefined : hoursText(every_seconds / 3_600).replace(/^1 /, "");
  return (
    <Facts
      of={[
        ["Asked", interval === undefined ? "by the command only" : `by the receiver, every ${interval}`],
        [
          "Complete to",
          every_seconds === null ? null : through === null ? "no run yet" : <Time key="at" at={through} relative />,
        ],
        ["Under way", running && <RunningText of={running} />],
        [
          "Found",
          found.count === 0 ? (
            "none that never arrived"
          ) : (
            <>
              {found.count} that never arrived, the last at <Time at={found.last_at} isShort />
            </>
          ),
        ],
      ]}
    />
  );
}

type Running = NonNullable<NonNullable<SourceDetailsView["reconcile"]>["running"]>;

function RunningText({ of: { from, to, failed } }: { readonly of: Running }) {
  return (
    <>
      <Time at={from} isShort /> to <Time at={to} isShort />
      {failed > 0 && `; ${failed} could not be accepted`}
    </>
  );
}
