import { Group } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { FilterForm } from "../../parts/filter-form.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import { callbackSearch } from "../../search.ts";
import { COLUMNS } from "./callback-columns.tsx";
import { CALLBACK_FIELDS } from "./callback-fields.ts";
import { CallbackList } from "./callback-list.tsx";
import { ExportLinks } from "./export-links.tsx";
import { useLive } from "./live.ts";
import { LiveSwitch } from "./live-switch.tsx";
import { NoCallbacks } from "./no-callbacks.tsx";

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
        says="Every request that came to a callback address, newest first, secrets masked."
      >
        <LiveSwitch live={live} isPaused={isPaused} setPaused={setPaused} />
      </PageTitle>
      <FilterForm
        fields={CALLBACK_FIELDS}
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
