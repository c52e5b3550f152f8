export { type BackfillReport, type BackfillRequest, backfill, type SampledEvent } from "./backfill.ts";
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
