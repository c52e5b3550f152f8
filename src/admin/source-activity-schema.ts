import { z } from "zod";

/** When the last callback of a source came, and how exactly that is known. */
export const lastCallbackFields = () => ({
  last_callback_at: z.string().meta({ format: "date-time" }).nullable().describe("Null for none in a day."),
  last_callback_within_seconds: z
    .int()
    .nullable()
    .describe(
      "0: it came at that time. Else it was counted by an earlier version, and came within so many seconds from then on.",
    ),
});

/** The callbacks of a source in a day. */
export const SOURCE_ACTIVITY = z.strictObject({
  ...lastCallbackFields(),
  outcomes: z.record(z.string(), z.int()),
  p99_ms: z.number().nullable(),
});
