export * from "./reconcile-once.ts";
export { createReconcilePoller, type ScheduledSource } from "./reconcile-poller.ts";
export * from "./reconcile-window.ts";
