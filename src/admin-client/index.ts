export type {
  AuditEntryView,
  CallbackView,
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
  type Paging,
} from "./admin-client.ts";
export { AdminError, type Options } from "./request.ts";
