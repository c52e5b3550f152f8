export type {
  AuditEntryView,
  BulkReplayView,
  CallbackView,
  EventHistoryView,
  EventView,
  FailureView,
  NotificationView,
  PageOf,
  ReachView,
  ReplayView,
  SandboxExchangeView,
  SandboxFlowView,
  SandboxSending,
  SandboxView,
  SessionView,
  SignInView,
  SourcesView,
} from "../admin/index.ts";
export {
  type AdminClient,
  createAdminClient,
  type EventKey,
  everyOf,
  type FailureFilter,
  type Paging,
} from "./admin-client.ts";
export { AdminError, type Options } from "./request.ts";
