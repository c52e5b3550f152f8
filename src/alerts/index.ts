export { type ArrivalCounts, createAlertPoller, createArrivalCounts } from "./alert-poller.ts";
