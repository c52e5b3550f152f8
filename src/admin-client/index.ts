export type {
  AuditEntryView,
  CallbackView,
  EventView,
  FailureView,
  NotificationView,
  PageOf,
  ReplayView,
  SessionView,
  SignInView,
} from "../admin/index.ts";
export {
  type AdminClient,
  createAdminClient,
  type EventKey,
  everyOf,
  type Paging,
} from "./admin-client.ts";
export { AdminError, type Options } from "./request.ts";
