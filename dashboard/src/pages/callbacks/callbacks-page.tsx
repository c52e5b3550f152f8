import { Anchor, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { CallbackFilters } from "oncehook/admin-client";
import { useState } from "react";
import { api } from "../../client.ts";
import { FilterForm } from "../../parts/filter-form.tsx";
import { PageLink } from "../../parts/page-link.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { callbackSearch } from "../../search.ts";
import { useSession } from "../../session.ts";
import { CallbackList, COLUMNS, useCallbackFilterFields } from "./callback-list.tsx";
import { useLive } from "./live.ts";
import { LiveToggle } from "./live-toggle.tsx";

const route = getRouteApi("/inside/callbacks");

export function CallbacksPage() {
  const filters = callbackSearch(route.useSearch());
  const navigate = route.useNavigate();
  const [isPaused, setPaused] = useState(false);
  const live = useLive(filters, filters.to === undefined, isPaused);
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  return (
    <>
      <PageTitle
        title="Callbacks"
        description="Every request that came to a callback address, newest first, secrets masked."
      >
        <LiveToggle live={live} isPaused={isPaused} setPaused={setPaused} />
      </PageTitle>
      <FilterForm
        fields={useCallbackFilterFields()}
        filters={{ ...filters }}
        apply={(next) => void navigate({ search: callbackSearch(next) })}
      />
      <Group justify="flex-end" mb="xs">
        <ExportLinks filters={filters} />
      </Group>
      <CallbackList
        caption="Callbacks, newest first"
        filters={filters}
        columns={COLUMNS}
        live={live}
        nothing={<NoCallbacks isFiltered={isFiltered} />}
      />
    </>
  );
}

/** All callbacks that match the filters, as a file. */
function ExportLinks({ filters }: { readonly filters: CallbackFilters }) {
  return (
    <Group gap="xs">
      <Text size="sm">Export as</Text>
      {(["ndjson", "csv"] as const).map((format) => (
        <Anchor
          key={format}
          size="sm"
          underline="always"
          href={api.callbacks.exportUrl(filters, format)}
          download={`callbacks.${format}`}
        >
          {format.toUpperCase()}
        </Anchor>
      ))}
    </Group>
  );
}

/** Explains an empty list of callbacks. */
function NoCallbacks({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered ? <>No callback fits these filters. Remove one, or look further back in time.</> : <NoneYet />;
}

function NoneYet() {
  const { sandbox } = useSession();
  const { data } = useQuery({ queryKey: ["sources"], queryFn: api.sources.list });
  const source = data?.items.find(({ about }) => about !== null) ?? data?.items[0];
  return (
    <>
      No callback has arrived yet. Register{" "}
      {source?.addresses[0]?.url ?? <PageLink to="/sources">the address</PageLink>} with{" "}
      {source?.about?.title ?? "your platform"}
      {sandbox && (
        <>
          , or <PageLink to="/sandbox">send one from the sandbox</PageLink>
        </>
      )}
      .
    </>
  );
}
