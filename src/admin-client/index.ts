export type {
  AuditEntryView,
  BulkReplayView,
  CallbackView,
  EventHistoryView,
  EventView,
  FailureView,
  FoundPage,
  GapView,
  NotificationView,
  OverviewView,
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
  TallyView,
} from "../admin/index.ts";
export { asSegment, ofSegment } from "../domain/index.ts";
export {
  type AdminClient,
  type CallbackFilters,
  createAdminClient,
  type EventKey,
  everyOf,
  type FailureFilter,
  type Paging,
} from "./admin-client.ts";
export type { LiveEvent } from "./live.ts";
export { AdminError, type Options } from "./request.ts";
