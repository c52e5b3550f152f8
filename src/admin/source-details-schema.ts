import { z } from "zod";
import { ENDPOINT_CHECK, time, view } from "./page-schemas.ts";

const IGNORED_TYPE = z.strictObject({
  event_type: z.string().nullable(),
  count: z.int(),
  first_at: time(),
  last_at: time(),
});

const IGNORED = z
  .strictObject({
    types: z.array(IGNORED_TYPE).describe("The most frequent first."),
    since: time().nullable().describe("The counts begin here, where the log has more ignored callbacks; else null."),
  })
  .describe("Events that no handler takes, or that the source's filters leave out, in the newest rows of the log.");

const RECONCILE = z.strictObject({
  every_seconds: z.int().nullable().describe("Null where only the command asks the platform."),
  since: time().nullable().describe("No run of the receiver goes back before it; null before the first run."),
  through: time().nullable().describe("How far the last complete run came."),
  running: z
    .strictObject({ from: time(), to: time(), failed: z.int().describe("Events that could not be accepted.") })
    .nullable()
    .describe("A run that has not finished."),
  found: z.strictObject({
    count: z.int().describe("Events that never arrived and were found at the platform, in the newest rows of the log."),
    last_at: time().nullable(),
  }),
});

export const SOURCE_DETAILS = view("What never reached a handler of a source, and whether its addresses lead here.", {
  source: z.string(),
  ignored: IGNORED,
  reconcile: RECONCILE.nullable().describe("Null where the source has no `reconcile`."),
  last_check: z
    .strictObject({ at: time(), check: ENDPOINT_CHECK })
    .nullable()
    .describe("The last endpoint check; null for none."),
});

export type SourceDetailsView = z.infer<typeof SOURCE_DETAILS>;
