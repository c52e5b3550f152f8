export { type BackfillPreview, previewBackfill } from "./backfill.ts";
export type { BackfillTarget } from "./backfill-events.ts";
export { createBackfillPoller } from "./backfill-poller.ts";
export { handlerProblem, unfinishedText } from "./backfill-request.ts";
export { runSample } from "./backfill-sample.ts";
export { workOn } from "./backfill-work.ts";
export { createBulkReplayPoller } from "./bulk-replay.ts";
export { type ImportReport, type ImportRequest, importSeen, type SeenLine } from "./import-seen.ts";
export { createAcceptedPoller, createRetryPoller } from "./leased-poller.ts";
export { type DryRunResult, discard, dryRunReplay, type ReplayResult, replay } from "./replay.ts";
export {
  dryRunHandled,
  type EndedReplay,
  type HandledReplayResult,
  replayHandled,
  type SkippedReplay,
} from "./replay-handled.ts";
export { newLease } from "./run-failure.ts";
