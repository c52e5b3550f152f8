export type {
  AlertView,
  AuditEntryView,
  BulkReplayView,
  CallbackPage,
  CallbackView,
  EndpointCheckView,
  EventHistoryView,
  EventView,
  FailureView,
  GapView,
  NotificationView,
  OverviewView,
  PageOf,
  ReplayView,
  SandboxFlowView,
  SandboxRequest,
  SandboxResultView,
  SandboxSampleView,
  SandboxSourceRequest,
  SandboxView,
  SessionView,
  SignInView,
  SourcesView,
  SourceView,
  TallyView,
  TenantView,
} from "../admin/index.ts";
export { fromPathSegment, outcomeStatus, toPathSegment } from "../domain/index.ts";
export * from "./admin-client.ts";
export type { LiveEvent } from "./live.ts";
export { type AdminClientOptions, AdminError } from "./request.ts";
