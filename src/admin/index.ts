export type { Access, Provider } from "./access/access.ts";
export type { AuditEntryView, SessionView, SignInView } from "./access/access-shapes.ts";
export { CALLBACK_PATH } from "./access/provider-routes.ts";
export { createTokenCheck, type TokenCheck } from "./access/token-check.ts";
export type { AdminDeps, Sandbox, Sources, Untried } from "./admin-deps.ts";
export { createAdminListener, describeAdminApi } from "./admin-listener.ts";
export { presentNotification } from "./notification-routes.ts";
export type { GapView, OverviewView, TallyView } from "./overview-shapes.ts";
export { presentFailure, presentRecord } from "./present.ts";
export type {
  SandboxExchangeView,
  SandboxFlowView,
  SandboxSending,
  SandboxView,
} from "./sandbox-shapes.ts";
export type {
  BulkReplayView,
  CallbackView,
  EventHistoryView,
  EventView,
  FailureView,
  FoundPage,
  NotificationView,
  PageOf,
  ReplayView,
} from "./shapes.ts";
export type { ReachView, SourcesView } from "./source-shapes.ts";
