import type { AlertRuleView, ListedAlertView } from "oncehook/admin-client";
import { ALERT_NAMES } from "../../parts/alert-texts.ts";
import { CopyIcon } from "../../parts/copy.tsx";
import { PageLink } from "../../parts/page-link.tsx";
import { type Column, Rows } from "../../parts/rows.tsx";
import { Time } from "../../parts/time.tsx";

/** Causes that a reader might expect of a kind, and that start no alert. */
const NOT_COVERED: Readonly<Record<AlertRuleView["kind"], string>> = {
  failures: "Failed events that still have a retry",
  accepted: "Events whose first attempt has failed: they are failed events",
  signatures: "Forgeries beside authentic callbacks, and a source that never had an authentic one",
  silence: "Types that come less often, and sources whose callbacks are refused",
};

interface Props {
  readonly rules: readonly AlertRuleView[];
  readonly items: readonly ListedAlertView[];
}

/** Each kind of alert: whether it is on, when it starts, and what it does not cover. */
export function AlertKinds({ rules, items }: Props) {
  const rows = rules.map((rule) => {
    const times = items.filter(({ kind }) => kind === rule.kind).map(({ since }) => since);
    return { ...rule, last: times.toSorted().at(-1) ?? null };
  });
  return (
    <section className="alert-kinds" aria-labelledby="alert-kinds">
      <h2 id="alert-kinds">Kinds of alerts</h2>
      <Rows caption="Kinds of alerts" columns={COLUMNS} rows={rows} keyOf={({ kind }) => kind} />
      <SwitchOn rules={rules} />
      <p className="quiet">
        Notifications that were not delivered start no alert, since alerts use the same channels.{" "}
        <PageLink to="/problems" search={{ kind: "delivery" }}>
          Problems
        </PageLink>{" "}
        has them, and the rules for Prometheus have <code>OncehookDeliveriesDead</code>.
      </p>
    </section>
  );
}

const COLUMNS: readonly Column<AlertRuleView & { readonly last: string | null }>[] = [
  {
    head: "State",
    cell: ({ is_on }) => (
      <span className="outcome" data-tone={is_on ? "success" : "quiet"}>
        {is_on ? "On" : "Off"}
      </span>
    ),
  },
  { head: "Alert", cell: ({ kind }) => ALERT_NAMES[kind] },
  {
    head: "Last started",
    cell: ({ last }) => (last === null ? <span className="quiet">Never</span> : <Time at={last} isShort />),
  },
  { head: "Starts when", cell: ({ limit }) => limit },
  { head: "Not covered", cell: ({ kind }) => <span className="quiet">{NOT_COVERED[kind]}</span> },
];

/** The variable with the kinds that are on and those that are off. */
function SwitchOn({ rules }: Pick<Props, "rules">) {
  const off = rules.filter(({ is_on }) => !is_on).map(({ kind }) => ALERT_NAMES[kind].toLowerCase());
  if (off.length === 0) return null;
  const setting = `ALERTS=${rules.map(({ kind }) => kind).join()}`;
  return (
    <p className="switch-on">
      To switch on {off.join(", ")}, restart with <code>{setting}</code>
      <CopyIcon icon="copy" what="the setting" text={setting} />
    </p>
  );
}
