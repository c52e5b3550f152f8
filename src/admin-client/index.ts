export type {
  BulkReplayView,
  CallbackView,
  EventHistoryView,
  EventView,
  FailureView,
  NotificationView,
  PageOf,
  ReplayView,
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
