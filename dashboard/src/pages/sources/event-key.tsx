import { secondsText } from "../../parts/amount.ts";
import { Facts } from "../../parts/facts.tsx";
import type { SourceView } from "../../views.ts";
import { retryText } from "./retry-text.ts";

const UNKNOWN = "not documented";
const OF_PROTOCOL = "event_id, which is signed: another callback with it is a duplicate";

/** The key of its events, when a callback is answered, and what the platform does without an answer. */
export function EventKey({ source: { about, answer, rate } }: { readonly source: SourceView }) {
  return (
    <section aria-labelledby="key">
      <h2 id="key">Events</h2>
      <p>An event is known by its {about?.identity ?? OF_PROTOCOL}.</p>
      <Facts
        of={[
          ["Answer", answer.within_ms === null ? answer.mode : `within ${secondsText(answer.within_ms)}`],
          ["Deadline", about && (about.deadline_seconds === null ? UNKNOWN : `${about.deadline_seconds} s`)],
          ["Retries", about && (retryText(about.retry_hours) ?? UNKNOWN)],
          ["Disables after", about?.disables],
          ["Rate limit", rate && `${rate.callbacks} in ${rate.seconds} s, for each address`],
        ]}
      />
    </section>
  );
}
