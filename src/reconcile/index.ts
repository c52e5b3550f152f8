export { createReconcilePoller, earliestTime, type ScheduledSource } from "./reconcile-poller.ts";
export {
  type ReconcileCounts,
  type ReconciledEvent,
  type ReconciledSource,
  type ReconcileOutcome,
  type ReconcileParts,
  reconcileWindow,
} from "./reconcile-window.ts";
