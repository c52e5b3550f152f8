import type { EventHistoryView } from "oncehook/admin-client";
import { Facts } from "../../parts/facts.tsx";
import { OutcomeBadge } from "../../parts/outcome-badge.tsx";
import { TextBlock } from "../../parts/text-block.tsx";
import { Time } from "../../parts/time.tsx";

/** The record of an event, or its failure, or that there is neither. */
export function EventFacts({
  story: { source, event_id, event, failure },
}: {
  readonly story: EventHistoryView;
}) {
  return (
    <section aria-label="The event">
      <Facts
        of={[
          ["Source", source],
          ["Event id", event_id],
          ["Event type", event?.event_type ?? failure?.event_type],
          ["Version", event?.version ?? failure?.version],
          ["Record", stateOf(event, failure)],
          [
            "Handled",
            event?.processed_at == null ? null : <Time key="at" at={event.processed_at} relative />,
          ],
          ["Attempts", failure?.attempts],
          [
            "Next attempt",
            failure?.next_attempt_at == null ? null : (
              <Time key="next" at={failure.next_attempt_at} relative />
            ),
          ],
          [
            "Failed with",
            failure === null ? null : <OutcomeBadge key="code" outcome={failure.code} status={500} />,
          ],
        ]}
      />
      {event?.result != null && (
        <>
          <h2>Result</h2>
          <TextBlock label="The handler's result" text={JSON.stringify(event.result)} />
        </>
      )}
      {failure !== null && (
        <>
          <h2>Last error</h2>
          <TextBlock label="The last error with its stack" text={failure.error} />
        </>
      )}
    </section>
  );
}

function stateOf(event: EventHistoryView["event"], failure: EventHistoryView["failure"]): string {
  if (event?.status === "completed") return "completed: it was handled, once";
  if (failure?.state === "waiting") return "none: it failed, and will be tried again";
  if (failure?.state === "exhausted") return "none: it failed, and waits for a person";
  return "none: it was not handled here";
}
