import { getRouteApi } from "@tanstack/react-router";
import type { AuditEntryView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { FilterChip } from "../../parts/filter-chip.tsx";
import { InfiniteListEnd, itemsOf, useInfiniteList } from "../../parts/infinite-list.tsx";
import { capitalised } from "../../parts/outcome.ts";
import { EmptyState, Loading, Problem } from "../../parts/page-states.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { type Column, Rows } from "../../parts/rows.tsx";
import { TextBlock } from "../../parts/text-block.tsx";
import { Time } from "../../parts/time.tsx";
import { auditSearch } from "../../search.ts";
import { ACTIONS, actionName } from "./audit-actions.ts";
import { AuditTarget } from "./audit-target.tsx";
import "./audit.css";
import { actorName } from "../../session.ts";

const route = getRouteApi("/inside/settings/audit");
const CHIPS = [
  { name: "action", label: "Action" },
  { name: "actor", label: "Actor" },
] as const;
const TONES = { done: "success", refused: "refused", failed: "failed" } as const;
const COLUMNS: readonly Column<AuditEntryView>[] = [
  { head: "Time", cell: ({ timestamp }) => <Time at={timestamp} /> },
  { head: "Actor", cell: ({ actor, role }) => (actor === null ? "Unauthenticated" : `${actorName(actor)}, ${role}`) },
  { head: "Action", cell: ({ action }) => <span title={action}>{actionName(action)}</span> },
  {
    head: "Target",
    cell: ({ action, target, detail }) => <AuditTarget action={action} target={target} detail={detail} />,
  },
  {
    head: "Details",
    cell: ({ detail }) =>
      detail === null ? (
        <span className="none">–</span>
      ) : (
        <details>
          <summary>Details</summary>
          <TextBlock label="Details of the action" text={JSON.stringify(detail)} />
        </details>
      ),
  },
  { head: "IP address", cell: ({ remote_address }) => remote_address },
  {
    head: "Outcome",
    cell: ({ outcome }) => (
      <span className="outcome" data-tone={outcome === null ? "quiet" : TONES[outcome]}>
        {capitalised(outcome ?? "not known")}
      </span>
    ),
  },
];

export function AuditPage() {
  const filters = auditSearch(route.useSearch());
  const navigate = route.useNavigate();
  const list = useInfiniteList(["audit", filters], (cursor) => api.audit.list({ ...filters, ...cursor }));
  const rows = itemsOf(list);
  const actors = [...new Set(rows.flatMap(({ actor }) => actor ?? []))];
  return (
    <>
      <PageTitle title="Audit log" description="Every change made or attempted, and every sign-in." />
      <div className="filter-bar audit-filters">
        {CHIPS.map(({ name, label }) => (
          <FilterChip
            key={name}
            label={label}
            value={filters[name]}
            options={name === "action" ? ACTIONS : actors}
            labelOf={name === "action" ? actionName : undefined}
            apply={(value) => void navigate({ search: (was) => auditSearch({ ...was, [name]: value }) })}
          />
        ))}
      </div>
      {list.isPending && <Loading what="the audit log" />}
      {list.isError && !list.isFetchNextPageError && (
        <Problem error={list.error} title="The audit log could not be read" again={() => void list.refetch()} />
      )}
      {list.isSuccess && rows.length === 0 && <EmptyState>No audit entries match.</EmptyState>}
      {rows.length > 0 && (
        <div className="audit-rows">
          <Rows caption="Audit log, newest first" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
        </div>
      )}
      <InfiniteListEnd list={list} />
    </>
  );
}
