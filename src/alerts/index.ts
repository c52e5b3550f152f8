export { createAlertPoller } from "./alert-poller.ts";
export { type ArrivalCounts, createArrivalCounts } from "./arrival-counts.ts";
