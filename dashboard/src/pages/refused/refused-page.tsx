import { getRouteApi } from "@tanstack/react-router";
import type { CallbackView } from "oncehook/admin-client";
import { useState } from "react";
import { type FilterField, FilterForm } from "../../parts/filter-form.tsx";
import { OutcomeBadge } from "../../parts/outcome-badge.tsx";
import { PageTitle } from "../../parts/page-title.tsx";
import type { Column } from "../../parts/rows.tsx";
import { callbackSearch } from "../../search.ts";
import { ADDRESS, CallbackList, EVENT, TIME, useCallbackFilterFields } from "../callbacks/callback-list.tsx";
import { useLive } from "../callbacks/live.ts";
import { LiveToggle } from "../callbacks/live-toggle.tsx";

const route = getRouteApi("/inside/refused");
/** The sender's faults (docs/errors.md): 401 for not authentic, others for too many, too large or not valid. */
const REFUSED = "4xx";
/** The receiver's endpoint checks have another outcome, by which the filter finds them. */
const NO_CHECKS = "!endpoint_check";
const STATUSES = ["400", "401", "403", "404", "405", "408", "413", "415", "429", "431"] as const;

const REASON: Column<CallbackView> = {
  head: "Reason",
  cell: ({ diagnosis, error, outcome, response_status }) => (
    <>
      <OutcomeBadge outcome={outcome} status={response_status} />
      {error !== null && <div>{error.replace(`${outcome}: `, "")}</div>}
      {diagnosis !== undefined && diagnosis !== null && (
        <div>
          {diagnosis.message} <strong>{diagnosis.remedy}</strong>
        </div>
      )}
    </>
  ),
};
const COLUMNS = [TIME, REASON, EVENT, ADDRESS];

export function RefusedPage() {
  const search = callbackSearch(route.useSearch());
  const navigate = route.useNavigate();
  const [isPaused, setPaused] = useState(false);
  const status = STATUSES.find((one) => one === search.status) ?? REFUSED;
  const filters = { ...search, status, outcome: search.outcome ?? NO_CHECKS };
  const live = useLive(filters, search.to === undefined, isPaused);
  const fields: readonly FilterField[] = useCallbackFilterFields().map((field) =>
    field.name === "status" ? { name: "status", label: "Status", options: STATUSES } : field,
  );
  return (
    <>
      <PageTitle
        title="Refused"
        description="Callbacks that were refused (4xx), and why: not authentic, not valid, too many, not from here."
      >
        <LiveToggle live={live} isPaused={isPaused} setPaused={setPaused} />
      </PageTitle>
      <FilterForm
        fields={fields}
        filters={{ ...search }}
        apply={(next) => void navigate({ search: callbackSearch(next) })}
      />
      <CallbackList
        caption="Refused callbacks, newest first"
        filters={filters}
        columns={COLUMNS}
        live={live}
        nothing="No refused callbacks match."
      />
    </>
  );
}
