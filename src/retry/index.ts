export { createBulkReplayPoller } from "./bulk-replay.ts";
export { createAcceptedPoller } from "./leased-poller.ts";
export { type DryRunResult, discard, dryRunReplay, type ReplayResult, replay } from "./replay.ts";
export { createRetryPoller } from "./retry-poller.ts";
