import { getRouteApi } from "@tanstack/react-router";
import type { AuditEntryView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { EndlessEnd, itemsOf, useEndless } from "../../parts/endless.tsx";
import { type FilterField, FilterForm } from "../../parts/filter-form.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Nothing } from "../../parts/nothing.tsx";
import { OutcomeBadge } from "../../parts/outcome-badge.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { Problem } from "../../parts/problem.tsx";
import { type Column, Rows } from "../../parts/rows.tsx";
import { TextBlock } from "../../parts/text-block.tsx";
import { Time } from "../../parts/time.tsx";
import { auditSearch } from "../../search.ts";

const route = getRouteApi("/inside/audit");
const FIELDS: readonly FilterField[] = [
  {
    name: "action",
    label: "Action",
    suggestions: [
      "failure.replay",
      "failure.dry_run",
      "failure.discard",
      "notification.replay",
      "notification.discard",
      "bulk_replay.start",
      "sandbox.send",
      "session.begin",
      "session.refused",
    ],
  },
  { name: "who", label: "Who" },
];

const COLUMNS: readonly Column<AuditEntryView>[] = [
  { head: "Time", cell: ({ timestamp }) => <Time at={timestamp} /> },
  { head: "Who", cell: ({ who, role }) => (who === null ? "not let in" : `${who}, ${role}`) },
  { head: "Action", cell: ({ action }) => action },
  {
    head: "Of what",
    cell: ({ subject, detail }) => (
      <>
        {subject ?? "–"}
        {detail !== null && (
          <details>
            <summary>Details</summary>
            <TextBlock label="Details of the action" text={JSON.stringify(detail)} />
          </details>
        )}
      </>
    ),
  },
  { head: "From", cell: ({ remote_address }) => remote_address },
  {
    head: "Outcome",
    cell: ({ outcome }) => (outcome === null ? "not known" : <OutcomeBadge outcome={outcome} />),
  },
];

export function AuditPage() {
  const filters = auditSearch(route.useSearch());
  const navigate = route.useNavigate();
  const list = useEndless(["audit", filters], (cursor) => api.audit.list({ ...filters, ...cursor }));
  const rows = itemsOf(list);
  return (
    <>
      <PageTitle
        title="Audit log"
        says="Every change that somebody made or tried to make here, and every sign-in."
      />
      <FilterForm
        fields={FIELDS}
        filters={{ ...filters }}
        apply={(next) => void navigate({ search: auditSearch(next) })}
      />
      {list.isPending && <Loading what="the audit log" />}
      {list.isError && !list.isFetchNextPageError && (
        <Problem
          error={list.error}
          title="The audit log could not be read"
          again={() => void list.refetch()}
        />
      )}
      {list.isSuccess && rows.length === 0 && <Nothing>Nothing that fits has been done here.</Nothing>}
      {rows.length > 0 && (
        <Rows caption="Audit log, newest first" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
      )}
      <EndlessEnd list={list} />
    </>
  );
}
