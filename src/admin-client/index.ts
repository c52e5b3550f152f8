export type {
  CallbackView,
  EventView,
  FailureView,
  FoundPage,
  GapView,
  NotificationView,
  OverviewView,
  PageOf,
  ReplayView,
  TallyView,
} from "../admin/index.ts";
export {
  type AdminClient,
  type CallbackFilters,
  createAdminClient,
  type EventKey,
  everyOf,
  type Paging,
} from "./admin-client.ts";
export type { LiveEvent } from "./live.ts";
export { AdminError, type Options } from "./request.ts";
