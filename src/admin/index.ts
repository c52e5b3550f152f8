export type { AdminDeps, Sandbox, Sources, Untried } from "./admin-deps.ts";
export { createAdminListener } from "./admin-listener.ts";
export { presentNotification } from "./notification-routes.ts";
export { presentFailure, presentRecord } from "./present.ts";
export type {
  SandboxExchangeView,
  SandboxFlowView,
  SandboxSending,
  SandboxView,
} from "./sandbox-shapes.ts";
export type {
  CallbackView,
  EventView,
  FailureView,
  NotificationView,
  PageOf,
  ReplayView,
} from "./shapes.ts";
export type { ReachView, SourcesView } from "./source-shapes.ts";
