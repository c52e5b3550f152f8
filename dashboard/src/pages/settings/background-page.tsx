import type { BackgroundName, BackgroundView } from "oncehook/admin-client";
import { durationText } from "../../parts/amount.ts";
import { capitalised, type Tone } from "../../parts/outcome.ts";
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

/** Between rounds so near to each other, the time of the next one says nothing. */
const OFTEN_MS = 5_000;
const NONE = <span className="none">–</span>;
const COLUMNS: readonly Column<Item>[] = [
  { head: "Work", cell: ({ name }) => WORK[name][0] },
  { head: "State", cell: (item) => <State item={item} /> },
  { head: "Does", cell: ({ name }) => <span className="quiet">{WORK[name][1]}</span> },
  {
    head: "Interval",
    cell: ({ every_ms }) => (every_ms === null ? NONE : <span className="every">{durationText(every_ms)}</span>),
  },
  {
    head: "Last round",
    cell: ({ last_started_at: at }) =>
      at === null ? (
        NONE
      ) : (
        <span className="last">
          <Time at={at} />
        </span>
      ),
  },
  {
    head: "Duration",
    cell: ({ last_duration_ms }) => <span className="number">{milliseconds(last_duration_ms)}</span>,
  },
  {
    head: "Next round",
    cell: ({ next_at: at, every_ms }) =>
      at === null || (every_ms !== null && every_ms <= OFTEN_MS) ? (
        NONE
      ) : (
        <span className="next">
          <Time at={at} />
        </span>
      ),
  },
];

/** The work of this process beside the callbacks. */
export function BackgroundPage() {
  const background = useBackground();
  return (
    <>
      <PageTitle title="Background work" description="What this process does beside callbacks, which have priority." />
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

/** Only a failed round has a colour: waiting is no success. Work that is off has a hollow mark. */
function stateOf({ state, last_failed, last_started_at }: Item): [label: string, tone?: Tone] {
  if (state === "off") return ["Off", "quiet"];
  if (last_failed) return ["Failed", "failed"];
  if (state === "waiting" && last_started_at === null) return ["No round yet"];
  return [capitalised(state)];
}

function State({ item }: { readonly item: Item }) {
  const [label, tone] = stateOf(item);
  return (
    <span className={tone === "quiet" ? "outcome quiet" : "outcome"} data-tone={tone}>
      {label}
    </span>
  );
}
