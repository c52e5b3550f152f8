export type { AdminAccess, OidcProvider } from "./access/access.ts";
export type { AuditEntryView, SessionView, SignInView } from "./access/access-schemas.ts";
export { CALLBACK_PATH } from "./access/oidc-routes.ts";
export { createTokenCheck, type TokenCheck } from "./access/token-check.ts";
export type { AdminDependencies, Sandbox, SandboxError, Sources } from "./admin-dependencies.ts";
export { createAdminListener, describeAdminApi } from "./admin-listener.ts";
export { presentNotification } from "./notification-routes.ts";
export type {
  EndpointCheckView,
  GapView,
  OverviewView,
  SandboxFlowView,
  SandboxRequest,
  SandboxResultView,
  SandboxView,
  SourcesView,
  TallyView,
} from "./page-schemas.ts";
export { presentFailure, presentRecord } from "./present.ts";
export type {
  BulkReplayView,
  CallbackPage,
  CallbackView,
  EventHistoryView,
  EventView,
  FailureView,
  NotificationView,
  PageOf,
  ReplayView,
} from "./schemas.ts";
