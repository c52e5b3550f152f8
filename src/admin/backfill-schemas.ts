import { z } from "zod";
import { time, view } from "./page-schemas.ts";

const count = () => z.int().nonnegative();
const counts = () => z.record(z.string(), count());

const COUNTS = {
  accepted: count().describe("Accepted for their handlers; in a dry run those that would be."),
  accepted_by_type: counts(),
  already_taken: count().describe("Handled, accepted or failed under the handler's key before."),
  held_back: count().describe("Handled under a name that no handler has now; `include_former` runs them again."),
  held_back_by_handler: counts().describe("By those names, such as `stripe#audit`."),
  ignored: count().describe("No handler takes them, or the source's filters leave them out."),
  ignored_by_type: counts(),
  erased: count().describe("Their payloads were erased."),
  expired: count().describe("Past the time for which their source keeps originals."),
  unreadable: count().describe(
    "No configured key decrypts them, where a block of them counts as one; or today's contract cannot read them.",
  ),
};

export const BACKFILL = view("The history of a handler's types on its way to it.", {
  id: z.int(),
  handler: z.string().describe("`stripe` for all handlers of the source, `stripe#audit` for those of a name."),
  event_type: z.string().nullable().describe("Null: all types that have a handler."),
  since: time().describe("Of the oldest events."),
  include_former: z.boolean(),
  per_second: z.int().describe("How many events may be accepted in a second."),
  state: z
    .enum(["running", "paused", "cancelled", "done"])
    .describe("After the first pass it runs on until what was at work at its start has committed."),
  ...COUNTS,
  started_at: time(),
  ended_at: time().nullable(),
  created_by: z.string().describe("Who asked for it."),
});

export const BACKFILL_PREVIEW = view("What a backfill would do; nothing was changed.", {
  ...COUNTS,
  is_complete: z
    .boolean()
    .describe("False where the history is too long for a request: the counts are of its beginning."),
  sample: z
    .strictObject({
      run: count(),
      failed: z.array(z.strictObject({ type: z.string(), id: z.string(), reason: z.string() })),
    })
    .describe("The first events, run and rolled back, and those that would fail. None of a handler with `prepare`."),
});

export type BackfillView = z.infer<typeof BACKFILL>;
export type BackfillPreviewView = z.infer<typeof BACKFILL_PREVIEW>;
