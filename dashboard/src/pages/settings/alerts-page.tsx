import { useQuery } from "@tanstack/react-query";
import type { ListedAlertView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { AlertLink } from "../../parts/alert-link.tsx";
import { ALERT_NAMES, ALERT_TONES } from "../../parts/alert-texts.ts";
import { MuteButton } from "../../parts/mute-button.tsx";
import { capitalised } from "../../parts/outcome.ts";
import { PageLink } from "../../parts/page-link.tsx";
import { EmptyState, Loading, Problem } from "../../parts/page-states.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { type Column, Rows } from "../../parts/rows.tsx";
import { Time } from "../../parts/time.tsx";
import { actorName, useMayChange } from "../../session.ts";
import { AlertChannels } from "./alert-channels.tsx";
import { AlertKinds } from "./alert-kinds.tsx";
import { SentTo } from "./sent-to.tsx";
import "./alerts.css";

const TONES = { muted: "quiet", resolved: "success" } as const;
const EVERY_MS = 10_000;

/** Every alert that has ever started, whether it reached anyone, and each kind of alert: when it starts. */
export function AlertsPage() {
  const mayChange = useMayChange();
  const alerts = useQuery({ queryKey: ["alerts"], queryFn: api.alerts.list, refetchInterval: EVERY_MS });
  const { items = [], rules = [], channels = [] } = alerts.data ?? {};
  return (
    <>
      <PageTitle title="Alerts">
        <PageLink to="/settings" search={{ find: "ALERT", show: "all" }} underline="hover">
          Alert configuration
        </PageLink>
      </PageTitle>
      {alerts.isPending && <Loading what="the alerts" />}
      {alerts.isError && (
        <Problem error={alerts.error} title="The alerts could not be read" again={() => void alerts.refetch()} />
      )}
      {alerts.isSuccess && <AlertChannels channels={channels} alerts={items} />}
      {alerts.isSuccess && items.length === 0 && (
        <EmptyState>
          No alert has started. The command lists them, too:
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
      {rules.length > 0 && <AlertKinds rules={rules} items={items} />}
    </>
  );
}

const nameOf = ({ source, subject }: ListedAlertView) => [source, subject].filter((part) => part !== "").join(" ");

const COLUMNS: readonly Column<ListedAlertView>[] = [
  {
    head: "State",
    cell: ({ state, kind }) => (
      <span className="outcome" data-tone={state === "open" ? ALERT_TONES[kind] : TONES[state]}>
        {capitalised(state)}
      </span>
    ),
  },
  {
    head: "Alert",
    cell: (alert) => (
      <AlertLink alert={alert} underline="hover">
        {ALERT_NAMES[alert.kind]}
      </AlertLink>
    ),
  },
  { head: "Last started", cell: ({ since }) => <Time at={since} relative /> },
  { head: "Source", cell: nameOf },
  { head: "Sent to", cell: ({ notification }) => <SentTo notification={notification} /> },
  {
    head: "Muted until",
    cell: ({ muted_until, muted_by, reason }) =>
      muted_until === null ? (
        <span className="none">–</span>
      ) : (
        <>
          <Time at={muted_until} isShort /> by {actorName(muted_by)}
          {reason !== null && <span className="quiet">: {reason}</span>}
        </>
      ),
  },
];

const ACTION: Column<ListedAlertView> = {
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
