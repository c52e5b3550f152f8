import { type OverviewView, outcomeCounts } from "oncehook/admin-client";
import { Figure } from "../../parts/figure.tsx";
import { PageLink } from "../../parts/page-link.tsx";
import { Time } from "../../parts/time.tsx";

const SPANS = { hour: "in the last hour", day: "in the last 24 hours", month: "in the last 30 days" } as const;

interface Props {
  readonly overview: OverviewView;
  /** Whether it is too old to say that all is well. */
  readonly isStale: boolean;
}

/** The state of everything, in one sentence. */
export function StateSentence({ overview, isStale }: Props) {
  const { span, from, totals, problems, failures } = overview;
  const { handled, duplicates, ignored, refused, failed } = outcomeCounts(totals.outcomes);
  const { waiting, next_attempt_at } = failures;
  return (
    <p className="state-sentence">
      {problems.open === 0 ? (
        <>{isStale ? "No problem was open at the last update" : "No problem is open"}. </>
      ) : (
        <>
          <PageLink to="/problems" underline="hover" className="figure">
            {problems.open === 1 ? "1 problem is open" : `${problems.open} problems are open`}
          </PageLink>
          .{" "}
        </>
      )}
      {handled + duplicates + ignored + refused + failed === 0 ? (
        <>No callback came {SPANS[span]}.</>
      ) : (
        <>
          <Figure count={handled} search={{ from, outcome: "handled" }} word="handled" />,{" "}
          <Figure count={refused} search={{ from, outcome: "refused" }} word="refused" /> and{" "}
          <Figure count={failed} search={{ from, outcome: "failed" }} word="failed" /> {SPANS[span]}.
        </>
      )}
      {waiting > 0 && (
        <>
          {" "}
          <PageLink to="/problems" search={{ failure_state: "waiting" }} underline="hover" className="figure">
            {waiting === 1 ? "1 event waits" : `${waiting} events wait`} for a retry
          </PageLink>
          {next_attempt_at !== null && (
            <>
              , the next at <Time at={next_attempt_at} />
            </>
          )}
          .
        </>
      )}
    </p>
  );
}
