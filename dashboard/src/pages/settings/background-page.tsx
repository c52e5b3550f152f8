import type { BackgroundName, BackgroundView } from "oncehook/admin-client";
import { durationText } from "../../parts/amount.ts";
import type { Tone } from "../../parts/outcome.ts";
import { Loading, Problem } from "../../parts/page-states.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { type Column, Rows } from "../../parts/rows.tsx";
import { milliseconds, Time } from "../../parts/time.tsx";
import { useBackground } from "./use-background.ts";
import "./settings.css";

type Item = BackgroundView["items"][number];

const WORK: Readonly<Record<BackgroundName, readonly [label: string, does: string]>> = {
  accepted_events: ["Accepted events", "First attempts of events that were answered before they ran"],
  retries: ["Retries", "Failed events that are due again"],
  notifications: ["Notifications", "Deliveries to the channels"],
  bulk_replays: ["Bulk replays", "Many events, at their rate"],
  backfills: ["Backfills", "The history of a handler, at its rate"],
  reconciliation: ["Reconciliation", "Asks platforms for events that never arrived"],
  token_refresh: ["Token refresh", "Users' tokens before they expire"],
  value_index: ["Value index", "What the search finds in old callbacks"],
  originals: ["Originals", "Merges blocks of originals"],
  retention: ["Retention", "Deletes what is past its time"],
  reencryption: ["Re-encryption", "Values of an earlier ENCRYPTION_KEY"],
  alerts: ["Alerts", "Opens, resolves and reports them"],
  rollups: ["Counts", "The numbers of the overview"],
};

const COLUMNS: readonly Column<Item>[] = [
  { head: "Work", cell: ({ name }) => WORK[name][0] },
  { head: "State", cell: (item) => <State item={item} /> },
  { head: "Does", cell: ({ name }) => <span className="quiet">{WORK[name][1]}</span> },
  { head: "At least every", cell: ({ every_ms }) => (every_ms === null ? "–" : durationText(every_ms)) },
  { head: "Last round", cell: ({ last_started_at }) => <Time at={last_started_at} /> },
  { head: "Duration", cell: ({ last_duration_ms }) => milliseconds(last_duration_ms) },
  { head: "Next round", cell: ({ next_at }) => <Time at={next_at} /> },
];

/** The work of this process beside the callbacks. */
export function BackgroundPage() {
  const background = useBackground();
  return (
    <>
      <PageTitle title="Background work" description="Rounds of this process; callbacks come before them." />
      {background.isPending && <Loading what="the background work" />}
      {background.isError && (
        <Problem
          error={background.error}
          title="The background work could not be read"
          again={() => void background.refetch()}
        />
      )}
      {background.data !== undefined && (
        <div className="background-rows">
          <Rows caption="Background work" columns={COLUMNS} rows={background.data.items} keyOf={({ name }) => name} />
        </div>
      )}
    </>
  );
}

/** Work that has had nothing to do yet is not shown as work that has run well. */
function stateOf({ state, last_failed, last_started_at }: Item): [label: string, tone: Tone] {
  if (last_failed) return ["failed", "failed"];
  if (state === "waiting" && last_started_at === null) return ["no round yet", "quiet"];
  return [state, state === "off" ? "quiet" : "success"];
}

function State({ item }: { readonly item: Item }) {
  const [label, tone] = stateOf(item);
  return (
    <span className="outcome" data-tone={tone}>
      {label}
    </span>
  );
}
