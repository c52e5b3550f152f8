import { Rows } from "../../parts/rows.tsx";
import { Time } from "../../parts/time.tsx";
import type { Alert } from "../../views.ts";

/** Alerts that are open now; nothing where there is none. */
export function OpenAlerts({ alerts }: { readonly alerts: readonly Alert[] }) {
  if (alerts.length === 0) return null;
  return (
    <section aria-labelledby="alerts">
      <h2 id="alerts">Open alerts</h2>
      <Rows
        caption="Open alerts"
        columns={[
          { head: "Alert", cell: ({ kind }) => kind },
          { head: "Source", cell: ({ source }) => source ?? "–" },
          { head: "Of what", cell: ({ subject }) => subject ?? "–" },
          { head: "Since", cell: ({ since }) => <Time at={since} relative /> },
        ]}
        rows={alerts}
        keyOf={({ kind, source, subject }) => `${kind} ${source} ${subject}`}
      />
    </section>
  );
}
