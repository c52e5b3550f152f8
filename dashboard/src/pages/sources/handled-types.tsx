import { secondsText } from "../../parts/amount.ts";
import { type Column, Rows } from "../../parts/rows.tsx";
import type { HandlerView, SourceView } from "../../views.ts";

const TYPE: Column<HandlerView> = { head: "Event type", cell: ({ event_type }) => <code>{event_type}</code> };
/** Of several handlers of one type; mostly there are none, and no column. */
const NAME: Column<HandlerView> = { head: "Name", cell: ({ name }) => name ?? "–" };
/** Only the built-in protocol has versions. */
const VERSIONS: Column<HandlerView> = { head: "Versions", cell: ({ versions }) => versions.join(", ") };
const COLUMNS: readonly Column<HandlerView>[] = [
  { head: "Prepare step", cell: ({ has_prepare }) => (has_prepare ? "yes" : "no") },
  { head: "Time limit", cell: ({ time_limit_ms }) => secondsText(time_limit_ms) },
];

interface Props {
  readonly source: SourceView;
  readonly handlers: readonly HandlerView[];
}

/** The types that a handler takes. */
export function HandledTypes({ source: { about, event_types, unhandled }, handlers }: Props) {
  const hasNames = handlers.some(({ name }) => name !== null);
  return (
    <section aria-labelledby="handlers">
      <h2 id="handlers">Types and handlers</h2>
      {handlers.length === 0 ? (
        <p className="quiet">
          No handler takes an event of this source. defineHandler adds one to oncehook.config.ts; HANDLERS switches the
          built-in ones on.
        </p>
      ) : (
        <Rows
          caption="Handlers"
          columns={[TYPE, ...(hasNames ? [NAME] : []), ...(about === null ? [VERSIONS] : []), ...COLUMNS]}
          rows={handlers}
          keyOf={({ event_type, name }) => `${event_type} ${name ?? ""}`}
        />
      )}
      {handlers.length > 0 && !event_types.includes("*") && (
        <p className="quiet">
          {unhandled === "ignore"
            ? "Other types are ignored: their platform gets a success, and nothing runs."
            : "Other types are refused with 400."}
        </p>
      )}
    </section>
  );
}
