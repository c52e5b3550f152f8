export type { AdminDeps } from "./admin-deps.ts";
export { createAdminListener } from "./admin-listener.ts";
export { presentNotification } from "./notification-routes.ts";
export { presentFailure, presentRecord } from "./present.ts";
export type {
  CallbackView,
  EventView,
  FailureView,
  FoundPage,
  GapView,
  NotificationView,
  OverviewView,
  PageOf,
  ReplayView,
  TallyView,
} from "./shapes.ts";
