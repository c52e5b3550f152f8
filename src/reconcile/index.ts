export { createReconcilePoller, earliestTime, type ScheduledSource } from "./reconcile-poller.ts";
export {
  type ReconcileCounts,
  type ReconcileDependencies,
  type ReconciledEvent,
  type ReconciledSource,
  type ReconcileOutcome,
  reconcileWindow,
} from "./reconcile-window.ts";
