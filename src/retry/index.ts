export { createAcceptedPoller } from "./accepted-poller.ts";
export { createBulkReplayPoller } from "./bulk-replay.ts";
export { type DryRunResult, discard, dryRunReplay, type ReplayResult, replay } from "./replay.ts";
export { createRetryPoller } from "./retry-poller.ts";
