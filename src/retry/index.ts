export type { RetryTiming } from "./lease-times.ts";
export { discard, type ReplayEnding, rehearse, replay } from "./replay.ts";
export { createRetryLoop, type RetryLoop } from "./retry-loop.ts";
