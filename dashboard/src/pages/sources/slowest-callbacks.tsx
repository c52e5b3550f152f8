import type { SourceHistoryView } from "oncehook/admin-client";
import { outcomeTitle, toneOf } from "../../parts/outcome.ts";
import { PageLink } from "../../parts/page-link.tsx";
import { SPAN_TEXT } from "../../parts/periods.ts";
import { milliseconds, Time } from "../../parts/time.tsx";

/** The slowest callbacks of the span; each leads to its panel. */
export function SlowestCallbacks({ history }: { readonly history: SourceHistoryView }) {
  const { source, slowest, span, totals, is_complete, deadline_ms } = history;
  return (
    <div className="slowest">
      <h3>
        {is_complete ? "Slowest callbacks" : "Some slow callbacks"}
        <span className="quiet">{` of ${SPAN_TEXT[span]}, up to their commit`}</span>
      </h3>
      {slowest.length === 0 && (
        <p className="slowest-none">
          {totals.callbacks === 0
            ? `No callback came in ${SPAN_TEXT[span]}.`
            : "The callback log does not hold the slowest ones any more."}
        </p>
      )}
      <ol className="slow-lines" aria-label="Slowest callbacks">
        {slowest.map(({ id, timestamp, event_type, event_id, outcome, response_status, processing_ms }) => (
          <li key={id}>
            <span className="slow-ms" data-late={deadline_ms !== null && processing_ms > deadline_ms}>
              {milliseconds(processing_ms)}
            </span>
            <Time at={timestamp} />
            <PageLink to="/activity" search={{ source, open: String(id) }} underline="hover" className="event-id">
              {event_id ?? `callback ${id}`}
            </PageLink>
            <span className="slow-type">{event_type ?? "–"}</span>
            <span className="outcome" data-tone={toneOf(outcome, response_status)}>
              {outcomeTitle(outcome)}
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}
