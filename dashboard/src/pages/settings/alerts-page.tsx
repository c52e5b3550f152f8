import { useQuery } from "@tanstack/react-query";
import type { AlertRuleView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { AlertLink } from "../../parts/alert-link.tsx";
import { ALERT_NAMES, ALERT_TEXTS, ALERT_TONES } from "../../parts/alert-texts.ts";
import { MuteButton } from "../../parts/mute-button.tsx";
import { capitalised } from "../../parts/outcome.ts";
import { PageLink } from "../../parts/page-link.tsx";
import { EmptyState, Loading, Problem } from "../../parts/page-states.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { type Column, Rows } from "../../parts/rows.tsx";
import { Time } from "../../parts/time.tsx";
import { actorName, useMayChange } from "../../session.ts";
import type { AlertView } from "../../views.ts";
import "./settings.css";

const TONES = { muted: "quiet", resolved: "success" } as const;
const EVERY_MS = 10_000;

/** Every alert that has ever started, and each kind of alert: whether it is on, and when it starts. */
export function AlertsPage() {
  const mayChange = useMayChange();
  const alerts = useQuery({ queryKey: ["alerts"], queryFn: api.alerts.list, refetchInterval: EVERY_MS });
  const { items = [], rules = [] } = alerts.data ?? {};
  return (
    <>
      <PageTitle title="Alerts" description="Open alerts first.">
        <PageLink to="/settings" search={{ find: "ALERT", show: "all" }} underline="hover">
          Thresholds
        </PageLink>
      </PageTitle>
      {alerts.isPending && <Loading what="the alerts" />}
      {alerts.isError && (
        <Problem error={alerts.error} title="The alerts could not be read" again={() => void alerts.refetch()} />
      )}
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
      {rules.length > 0 && <Kinds rules={rules} items={items} />}
    </>
  );
}

interface KindsProps {
  readonly rules: readonly AlertRuleView[];
  readonly items: readonly AlertView[];
}

function Kinds({ rules, items }: KindsProps) {
  const rows = rules.map((rule) => {
    const times = items.filter(({ kind }) => kind === rule.kind).map(({ since }) => since);
    return { ...rule, last: times.toSorted().at(-1) ?? null };
  });
  return (
    <section className="alert-kinds" aria-labelledby="alert-kinds">
      <h2 id="alert-kinds">Kinds of alerts</h2>
      <Rows caption="Kinds of alerts" columns={KIND_COLUMNS} rows={rows} keyOf={({ kind }) => kind} />
    </section>
  );
}

const KIND_COLUMNS: readonly Column<AlertRuleView & { readonly last: string | null }>[] = [
  {
    head: "State",
    cell: ({ is_on }) => (
      <span className="outcome" data-tone={is_on ? "success" : "quiet"}>
        {is_on ? "On" : "Off"}
      </span>
    ),
  },
  { head: "Alert", cell: ({ kind }) => ALERT_NAMES[kind] },
  { head: "Starts when", cell: ({ limit }) => limit },
  { head: "Last started", cell: ({ last }) => (last === null ? "never" : <Time at={last} relative />) },
];

const nameOf = ({ source, subject }: AlertView) => [source, subject].filter((part) => part !== "").join(" ");

const COLUMNS: readonly Column<AlertView>[] = [
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
        {capitalised(ALERT_TEXTS[alert.kind])}
      </AlertLink>
    ),
  },
  { head: "Source", cell: nameOf },
  { head: "Last started", cell: ({ since }) => <Time at={since} relative /> },
  {
    head: "Muted until",
    cell: ({ muted_until, muted_by, reason }) =>
      muted_until === null ? (
        "–"
      ) : (
        <>
          <Time at={muted_until} isShort /> by {actorName(muted_by)}
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
