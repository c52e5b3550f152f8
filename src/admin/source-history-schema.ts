import { z } from "zod";
import { time, view } from "./page-schemas.ts";

const quantile = () => z.number().nullable();
const LATENCY = { p50_ms: quantile(), p95_ms: quantile(), p99_ms: quantile() };

const SLOW_CALLBACK = z.strictObject({
  id: z.int(),
  timestamp: time(),
  event_type: z.string().nullable(),
  event_id: z.string().nullable(),
  outcome: z.string(),
  response_status: z.int(),
  processing_ms: z.number(),
});

export const SOURCE_HISTORY = view("How long a source's callbacks took, against its platform's deadline.", {
  source: z.string(),
  span: z.enum(["hour", "day", "month"]),
  from: time(),
  to: time(),
  step_seconds: z.int(),
  deadline_ms: z.int().nullable().describe("How long its platform waits for a response; null where not documented."),
  buckets: z
    .array(z.strictObject({ at: time(), callbacks: z.int(), ...LATENCY }))
    .describe("Every period of the span, oldest first; the last one is not over."),
  totals: z.strictObject({ callbacks: z.int(), ...LATENCY }),
  slowest: z
    .array(SLOW_CALLBACK)
    .describe("The slowest callbacks of the periods with the longest latencies, at most five; a bounded look."),
  is_complete: z.boolean().describe("Whether none that the log holds can be slower."),
});

export type SourceHistoryView = z.infer<typeof SOURCE_HISTORY>;
