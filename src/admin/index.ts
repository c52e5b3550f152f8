export type { Access, Provider } from "./access/access.ts";
export { CALLBACK_PATH } from "./access/provider-routes.ts";
export type { AdminDeps, Sandbox, Sources, Untried } from "./admin-deps.ts";
export { createAdminListener, describeAdminApi } from "./admin-listener.ts";
export { presentNotification } from "./notification-routes.ts";
export { presentFailure, presentRecord } from "./present.ts";
export type {
  SandboxExchangeView,
  SandboxFlowView,
  SandboxSending,
  SandboxView,
} from "./sandbox-shapes.ts";
export type {
  AuditEntryView,
  BulkReplayView,
  CallbackView,
  EventHistoryView,
  EventView,
  FailureView,
  NotificationView,
  PageOf,
  ReplayView,
  SessionView,
  SignInView,
} from "./shapes.ts";
export type { ReachView, SourcesView } from "./source-shapes.ts";
