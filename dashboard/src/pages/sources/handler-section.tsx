import { Stack } from "@mantine/core";
import { milliseconds } from "../../parts/milliseconds.ts";
import { Nothing } from "../../parts/nothing.tsx";
import { type Column, Rows } from "../../parts/rows.tsx";
import type { HandlerView } from "../../views.ts";

const COLUMNS: readonly Column<HandlerView>[] = [
  { head: "Event type", cell: ({ event_type }) => event_type },
  { head: "Versions", cell: ({ versions }) => versions.join(", ") },
  { head: "Outside work first", cell: ({ has_prepare }) => (has_prepare ? "yes, in prepare" : "no") },
  { head: "Time limit", cell: ({ time_limit_ms }) => milliseconds(time_limit_ms) },
];

/** What handles which type; every other type is answered 400. */
export function HandlerSection({ handlers }: { readonly handlers: readonly HandlerView[] }) {
  return (
    <Stack component="section" gap="xs" aria-labelledby="handlers">
      <h2 id="handlers">Handlers</h2>
      {handlers.length === 0 ? (
        <Nothing>
          There is no handler: HANDLERS switches the built-in ones on, oncehook.config.ts names your own.
        </Nothing>
      ) : (
        <Rows caption="Handlers" columns={COLUMNS} rows={handlers} keyOf={({ event_type }) => event_type} />
      )}
    </Stack>
  );
}
