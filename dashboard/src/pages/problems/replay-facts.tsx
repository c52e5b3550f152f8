import type { BulkReplayView } from "oncehook/admin-client";
import { elapsedText } from "../../parts/amount.ts";
import { Facts } from "../../parts/facts.tsx";
import { PageLink } from "../../parts/page-link.tsx";
import { Time } from "../../parts/time.tsx";
import { actorName } from "../../session.ts";
import { COUNT } from "./problem-text.ts";

const SECOND_MS = 1_000;

/** Of a bulk replay: when and by whom, how long and how fast, and the list of its events. */
export function ReplayFacts({ replay }: { readonly replay: BulkReplayView }) {
  const { started_at, ended_at, created_by, reason } = replay;
  return (
    <Facts
      isShort
      of={[
        ["Events", <EventsLink key="events" replay={replay} />],
        ["Reason", reason],
        ["Started by", actorName(created_by)],
        ["Started", <Time key="started" at={started_at} relative />],
        ["Ended", ended_at === null ? null : <Time key="ended" at={ended_at} relative />],
        ["Duration", ended_at === null ? null : elapsedText(Date.parse(ended_at) - Date.parse(started_at))],
        ["Rate", rateText(replay)],
      ]}
    />
  );
}

/** The events of a filter are in Activity, those of a cause in its problem. */
function EventsLink({ replay: { filter, scope, started_at } }: { readonly replay: BulkReplayView }) {
  if (filter.problem !== undefined)
    return (
      <PageLink to="/problems/$id" params={{ id: filter.problem }} underline="hover">
        View problem
      </PageLink>
    );
  const { source, event_type, from, to } = { from: undefined, to: undefined, ...filter };
  const search = { source, event_type, from, to: to ?? started_at, outcome: scope === "events" ? "handled" : "failed" };
  return (
    <PageLink to="/activity" search={search} underline="hover">
      View in Activity
    </PageLink>
  );
}

/** Only the limit while too little has run. */
function rateText({ done, started_at, ended_at, per_second }: BulkReplayView): string {
  const seconds = (Date.parse(ended_at ?? "") - Date.parse(started_at)) / SECOND_MS;
  if (done < 2 || !(seconds > 0)) return `At most ${per_second} per second`;
  return `${COUNT.format(Math.round(done / seconds))} per second (limit ${per_second})`;
}
