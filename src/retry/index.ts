export { createBulkReplayPoller } from "./bulk-replay.ts";
export { type DryRunResult, discard, dryRunReplay, type ReplayResult, replay } from "./replay.ts";
export { createRetryPoller, type RetryPoller } from "./retry-poller.ts";
export type { RetryTiming } from "./run-failure.ts";
