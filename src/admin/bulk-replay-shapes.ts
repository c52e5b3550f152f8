import { z } from "zod";
import { time } from "./shape-parts.ts";

export const BULK_REPLAY = z
  .strictObject({
    id: z.int(),
    filter: z
      .strictObject({
        state: z.enum(["waiting", "exhausted"]).optional(),
        source: z.string().optional(),
        event_type: z.string().optional(),
        code: z.string().optional(),
      })
      .describe("What its failures have in common."),
    per_second: z.int().describe("How many replays may begin in a second."),
    state: z.enum(["running", "paused", "cancelled", "done"]),
    total: z
      .int()
      .describe("How many failures there were at the beginning; those that came later are not replayed."),
    done: z.int().describe("`succeeded`, `already` and `failed` together."),
    succeeded: z.int(),
    already: z.int().describe("Handled, discarded or gone before their turn came."),
    failed: z.int().describe("They are failures still. None of them is tried twice."),
    begun_at: time(),
    ended_at: time().nullable(),
    by: z.string().describe("Who asked for it."),
  })
  .describe("The replay of all failures that a filter finds.");
