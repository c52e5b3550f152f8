import { z } from "zod";
import { time, view } from "./page-schemas.ts";
import { lastCallbackFields } from "./source-activity-schema.ts";

export const SOURCE_STATES = ["ok", "failing", "refusing", "silent", "idle"] as const;

export const SOURCE_HEALTH = view("How a source fares: the last hour, and its last callback.", {
  source: z.string(),
  title: z.string().nullable().describe("Its platform's name; null for the built-in protocol (`platform`)."),
  state: z
    .enum(SOURCE_STATES)
    .describe(
      "`failing`: some callbacks failed; `refusing`: most were refused; `silent`: none came, though some came in most hours of the day before; `idle`: none came.",
    ),
  from: time().describe("When the hour began."),
  outcomes: z.record(z.string(), z.int()).describe("Since then, by code, as the overview has them."),
  periods: z
    .array(z.record(z.string(), z.int()))
    .describe("The same in each two minutes of the hour, the oldest first; those without a callback are empty."),
  p99_ms: z.number().nullable(),
  deadline_ms: z.int().nullable().describe("How long its platform waits for a response; null where not documented."),
  ...lastCallbackFields(),
});

export type SourceHealthView = z.infer<typeof SOURCE_HEALTH>;
