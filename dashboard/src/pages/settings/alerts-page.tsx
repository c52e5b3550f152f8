import { useQuery } from "@tanstack/react-query";
import { api } from "../../client.ts";
import { ALERT_TEXTS } from "../../parts/alert-texts.ts";
import { MuteButton } from "../../parts/mute-button.tsx";
import { EmptyState, Loading, Problem } from "../../parts/page-states.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { type Column, Rows } from "../../parts/rows.tsx";
import { Time } from "../../parts/time.tsx";
import { useMayChange } from "../../session.ts";
import type { AlertView } from "../../views.ts";
import "./settings.css";

const TONES = { open: "failed", muted: "quiet", resolved: "success" } as const;
const EVERY_MS = 10_000;

/** Every alert that has ever started: when it opened last, and whether it is muted. */
export function AlertsPage() {
  const mayChange = useMayChange();
  const alerts = useQuery({ queryKey: ["alerts"], queryFn: api.alerts.list, refetchInterval: EVERY_MS });
  const items = alerts.data?.items ?? [];
  return (
    <>
      <PageTitle title="Alerts" description="Those that have started, the open ones first." />
      {alerts.isPending && <Loading what="the alerts" />}
      {alerts.isError && (
        <Problem error={alerts.error} title="The alerts could not be read" again={() => void alerts.refetch()} />
      )}
      {alerts.isSuccess && items.length === 0 && (
        <EmptyState>
          None has started. The variable ALERTS says which are on, and the command lists them, too:
          <code className="command">npx oncehook alerts</code>
        </EmptyState>
      )}
      {items.length > 0 && (
        <div className="alert-rows">
          <Rows
            caption="Alerts, the open ones first"
            columns={mayChange ? [...COLUMNS, ACTION] : COLUMNS}
            rows={items}
            keyOf={({ kind, source, subject }) => `${kind} ${source} ${subject}`}
          />
        </div>
      )}
    </>
  );
}

const nameOf = ({ source, subject }: AlertView) => [source, subject].filter((part) => part !== "").join(" ");

const COLUMNS: readonly Column<AlertView>[] = [
  {
    head: "State",
    cell: ({ state }) => (
      <span className="outcome" data-tone={TONES[state]}>
        {state}
      </span>
    ),
  },
  { head: "Alert", cell: ({ kind }) => ALERT_TEXTS[kind] },
  { head: "Source", cell: nameOf },
  { head: "Last started", cell: ({ since }) => <Time at={since} relative /> },
  {
    head: "Muted until",
    cell: ({ muted_until, muted_by, reason }) =>
      muted_until === null ? (
        "–"
      ) : (
        <>
          <Time at={muted_until} isShort /> by {muted_by}
          {reason !== null && <span className="quiet">: {reason}</span>}
        </>
      ),
  },
];

const ACTION: Column<AlertView> = {
  head: "Action",
  cell: (alert) => {
    const { kind, source, subject, muted_until } = alert;
    const target = { kind, source, subject };
    return (
      <MuteButton
        name={`alert ${kind} of ${nameOf(alert)}`}
        isMuted={muted_until !== null}
        mute={(body) => api.alerts.mute({ ...target, ...body })}
        unmute={() => api.alerts.unmute(target)}
      />
    );
  },
};
