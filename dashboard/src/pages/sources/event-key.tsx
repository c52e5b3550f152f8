import { Facts } from "../../parts/facts.tsx";
import { capitalised } from "../../parts/outcome.ts";
import type { SourceView } from "../../views.ts";
import { retryText } from "./retry-text.ts";

const ONE_DECIMAL = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const UNKNOWN = "not documented";
const OF_PROTOCOL = "event_id, which is signed: a callback that is sent again, or captured, is a duplicate";
const MODES = { inline: "After the commit", after: "Before the handler runs" };

/** The key of its events, when a callback is answered, and what the platform does without an answer. */
export function EventKey({ source }: { readonly source: SourceView }) {
  const { about, rate } = source;
  return (
    <section aria-labelledby="key">
      <h2 id="key">Events</h2>
      <p>The key of an event is its {about?.identity ?? OF_PROTOCOL}.</p>
      <Facts
        of={[
          ["Answer", answerText(source)],
          [
            "Deadline",
            about && (about.deadline_seconds === null ? capitalised(UNKNOWN) : `${about.deadline_seconds} s`),
          ],
          ["Retries", about && capitalised(retryText(about.retry_hours) ?? UNKNOWN)],
          ["Disables after", about?.disables],
          ["Rate limit", rate && `${rate.callbacks} in ${rate.seconds} s, for each address`],
        ]}
      />
    </section>
  );
}

/** A handler may run longer than its platform waits: both limits stand in one sentence. */
function answerText({ about, answer: { mode, within_ms } }: SourceView): string {
  if (mode !== "within" || within_ms === null) return MODES[mode === "after" ? "after" : "inline"];
  const waits = about?.deadline_seconds == null ? "" : ` of the ${about.deadline_seconds} s that ${about.title} waits`;
  return `Within ${ONE_DECIMAL.format(within_ms / 1_000)} s${waits}; a handler that takes longer goes on after it, up to its time limit`;
}
