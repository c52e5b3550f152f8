import { Button } from "@mantine/core";
import type { TenantView } from "oncehook/admin-client";
import { useState } from "react";
import { api } from "../../client.ts";
import { itemsOf, useInfiniteList } from "../../parts/infinite-list.tsx";
import { EmptyState, Loading, Problem } from "../../parts/page-states.tsx";
import { type Column, Rows } from "../../parts/rows.tsx";
import { Time } from "../../parts/time.tsx";

const used = (at: string | null) => (at === null ? "Not yet" : <Time at={at} isShort relative />);

const COLUMNS: readonly Column<TenantView>[] = [
  { head: "Tenant", cell: ({ tenant }) => tenant },
  { head: "Current secret", cell: ({ current_used_at }) => used(current_used_at) },
  { head: "Previous secret", cell: ({ previous_used_at }) => used(previous_used_at) },
];

/** When the secrets of each tenant were used; there may be thousands, so that they are read on request. */
export function TenantSecrets({ source }: { readonly source: string }) {
  const [isShown, setShown] = useState(false);
  if (isShown) return <TenantList source={source} />;
  return (
    <div>
      <Button variant="default" size="compact-md" onClick={() => setShown(true)}>
        Show tenants of {source}
      </Button>
    </div>
  );
}

function TenantList({ source }: { readonly source: string }) {
  const list = useInfiniteList(["tenants", source], (cursor) => api.sources.tenants(source, cursor));
  const rows = itemsOf(list);
  if (list.isPending) return <Loading what="the tenants" />;
  if (list.isError)
    return <Problem error={list.error} title="The tenants could not be read" again={() => void list.refetch()} />;
  if (rows.length === 0) return <EmptyState>No tenant has sent an authentic callback.</EmptyState>;
  return (
    <div>
      <Rows
        caption={`Last use of the secrets of ${source}, by tenant`}
        columns={COLUMNS}
        rows={rows}
        keyOf={({ tenant }) => tenant}
      />
      {/* It does not read on when it comes into view: the sections below would never be reached. */}
      {list.hasNextPage && (
        <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Load more
        </Button>
      )}
    </div>
  );
}
