export { createReconcilePoller, earliestTime, type ScheduledSource } from "./reconcile-poller.ts";
export * from "./reconcile-window.ts";
