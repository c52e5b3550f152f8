import { z } from "zod";
import { time } from "./shape-parts.ts";

/** How callbacks ended, by outcome. */
const OUTCOMES = z.record(z.string(), z.int());
const quantile = () => z.number().nullable();

export const OVERVIEW = z
  .strictObject({
    span: z.enum(["hour", "day", "month"]),
    from: time(),
    to: time(),
    step_seconds: z.int(),
    buckets: z
      .array(z.strictObject({ at: time(), outcomes: OUTCOMES, p50_ms: quantile(), p99_ms: quantile() }))
      .describe("Every period of the span, oldest first; the last one is not over."),
    totals: z.strictObject({ outcomes: OUTCOMES, p50_ms: quantile(), p99_ms: quantile() }),
    failures: z.strictObject({ waiting: z.int(), exhausted: z.int(), next_attempt_at: time().nullable() }),
    notifications: z.strictObject({ waiting: z.int(), dead: z.int() }),
    alerts: z
      .array(z.strictObject({ kind: z.string(), source: z.string(), subject: z.string(), since: time() }))
      .describe("Those that are open."),
    needs_a_person: z.array(z.strictObject({ what: z.string(), count: z.int(), says: z.string() })),
  })
  .describe("What came to the receivers of this database: their counts may be some seconds behind.");

/** What a live stream tells every two seconds. */
export const TALLY = z
  .strictObject({
    callbacks: z.int().describe("How many rows the log got since the tally before."),
    outcomes: OUTCOMES.describe("How they ended."),
    waiting: z.int().describe("Failures that wait for a retry."),
    exhausted: z.int().describe("Failures that wait for a person."),
  })
  .describe("`event: tally` of a live stream; of all callbacks, whatever its filter.");

/** What a live stream could not show. */
export const GAP = z
  .strictObject({ after: z.int().nullable(), until: z.int() })
  .describe(
    "`event: gap` of a live stream: callbacks with ids above `after`, up to and including `until`, were left out. Where `after` is null, nobody knows which.",
  );

export type OverviewView = z.infer<typeof OVERVIEW>;
export type TallyView = z.infer<typeof TALLY>;
export type GapView = z.infer<typeof GAP>;
