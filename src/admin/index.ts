export type { AdminDeps } from "./admin-deps.ts";
export { createAdminListener } from "./admin-listener.ts";
export { presentNotification } from "./notification-routes.ts";
export { presentFailure, presentRecord } from "./present.ts";
export type {
  BulkReplayView,
  CallbackView,
  EventHistoryView,
  EventView,
  FailureView,
  NotificationView,
  PageOf,
  ReplayView,
} from "./shapes.ts";
