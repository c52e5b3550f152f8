export { type ArrivalCounts, createAlertPoller, createArrivalCounts } from "./evaluate-alerts.ts";
