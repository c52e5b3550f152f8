import { getRouteApi } from "@tanstack/react-router";
import type { AuditEntryView } from "oncehook/admin-client";
import { api } from "../../client.ts";
import { type FilterField, FilterForm } from "../../parts/filter-form.tsx";
import { InfiniteListEnd, itemsOf, useInfiniteList } from "../../parts/infinite-list.tsx";
import { PageLink } from "../../parts/page-link.tsx";
import { EmptyState, Loading, Problem } from "../../parts/page-states.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { type Column, Rows } from "../../parts/rows.tsx";
import { TextBlock } from "../../parts/text-block.tsx";
import { Time } from "../../parts/time.tsx";
import { auditSearch } from "../../search.ts";
import "./settings.css";
import { actorName } from "../../session.ts";

const route = getRouteApi("/inside/settings/audit");
const FILTER_FIELDS: readonly FilterField[] = [
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
      "backfill.start",
      "alert.mute",
      "checks.run",
      "sandbox.send",
      "session.begin",
      "session.refused",
    ],
  },
  { name: "actor", label: "Actor" },
];

const TONES = { done: "success", refused: "refused", failed: "failed" } as const;
const COLUMNS: readonly Column<AuditEntryView>[] = [
  { head: "Time", cell: ({ timestamp }) => <Time at={timestamp} /> },
  { head: "Actor", cell: ({ actor, role }) => (actor === null ? "unauthenticated" : `${actorName(actor)}, ${role}`) },
  { head: "Action", cell: ({ action }) => action },
  {
    head: "Target",
    cell: ({ action, target, detail }) => (
      <span className="audit-target">
        <Target action={action} target={target} />
        {detail !== null && (
          <details>
            <summary>Details</summary>
            <TextBlock label="Details of the action" text={JSON.stringify(detail)} />
          </details>
        )}
      </span>
    ),
  },
  { head: "IP address", cell: ({ remote_address }) => remote_address },
  {
    head: "Outcome",
    cell: ({ outcome }) => (
      <span className="outcome" data-tone={outcome === null ? "quiet" : TONES[outcome]}>
        {outcome ?? "not known"}
      </span>
    ),
  },
];

/** These actions have the key of an event, which the activity opens. */
const OF_EVENT = /^(?:failure|event)\./;

function Target({ action, target }: Pick<AuditEntryView, "action" | "target">) {
  if (target === null) return "–";
  const text = <code>{target}</code>;
  if (!OF_EVENT.test(action) || !target.includes("/")) return text;
  return (
    <PageLink to="/activity" search={{ open: target }} underline="hover">
      {text}
    </PageLink>
  );
}

export function AuditPage() {
  const filters = auditSearch(route.useSearch());
  const navigate = route.useNavigate();
  const list = useInfiniteList(["audit", filters], (cursor) => api.audit.list({ ...filters, ...cursor }));
  const rows = itemsOf(list);
  return (
    <>
      <PageTitle title="Audit log" description="Every change made or attempted, and every sign-in." />
      <FilterForm
        fields={FILTER_FIELDS}
        filters={{ ...filters }}
        apply={(next) => void navigate({ search: auditSearch(next) })}
      />
      {list.isPending && <Loading what="the audit log" />}
      {list.isError && !list.isFetchNextPageError && (
        <Problem error={list.error} title="The audit log could not be read" again={() => void list.refetch()} />
      )}
      {list.isSuccess && rows.length === 0 && <EmptyState>No audit entries match.</EmptyState>}
      {rows.length > 0 && (
        <Rows caption="Audit log, newest first" columns={COLUMNS} rows={rows} keyOf={({ id }) => id} />
      )}
      <InfiniteListEnd list={list} />
    </>
  );
}
