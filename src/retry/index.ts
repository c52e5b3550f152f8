export { createBulkReplayLoop } from "./bulk-replay-loop.ts";
export type { RetryTiming } from "./lease-times.ts";
export { discard, type Rehearsed, type ReplayEnding, rehearse, replay } from "./replay.ts";
export { createRetryLoop, type RetryLoop } from "./retry-loop.ts";
