import type { CallbackView } from "oncehook/admin-client";
import { Facts } from "../../parts/facts.tsx";
import { milliseconds } from "../../parts/milliseconds.ts";
import { OutcomeBadge } from "../../parts/outcome-badge.tsx";
import { PageLink } from "../../parts/page-link.tsx";
import { TextBlock } from "../../parts/text-block.tsx";
import { Time } from "../../parts/time.tsx";
import { DiagnosisBox } from "./diagnosis-box.tsx";
import { verdictOf } from "./verdict.ts";

export function CallbackFacts({ callback }: { readonly callback: CallbackView }) {
  const { outcome, response_status, source, event_id, event_type, error, diagnosis } = callback;
  return (
    <section aria-label="What happened">
      <Facts
        of={[
          ["Outcome", <OutcomeBadge key="outcome" outcome={outcome} status={response_status} />],
          ["Signature", verdictOf(callback)],
          ["Time", <Time key="time" at={callback.timestamp} relative />],
          ["Took", milliseconds(callback.processing_ms)],
          ["Source", source],
          ["Event type", event_type],
          [
            "Event",
            source !== null && event_id !== null ? (
              <PageLink key="event" to="/events/$source/$event_id" params={{ source, event_id }}>
                {event_id}, with all of its deliveries and attempts
              </PageLink>
            ) : null,
          ],
          ["From", callback.remote_address],
          ["Request id", callback.request_id],
        ]}
      />
      {diagnosis !== undefined && diagnosis !== null && <DiagnosisBox diagnosis={diagnosis} />}
      {error !== null && (
        <>
          <h2>Error</h2>
          <TextBlock label="The error with its stack" text={error} />
        </>
      )}
    </section>
  );
}
