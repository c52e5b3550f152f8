export {
  type AdminAccess,
  createTokenCheck,
  type OidcProvider,
  type TokenCheck,
} from "./access/authenticator.ts";
export { CALLBACK_PATH } from "./access/sign-in-routes.ts";
export type * from "./admin-dependencies.ts";
export { createAdminListener } from "./admin-listener.ts";
export type { AlertListView, ListedAlertView } from "./alert-routes.ts";
export type { AlertRuleView, AlertView } from "./alert-schemas.ts";
export type { BackfillPreviewView, BackfillView } from "./backfill-schemas.ts";
export type { CALLBACK_FILTER } from "./callback-routes.ts";
export type * from "./callback-schemas.ts";
export { createEmbeddedAdmin, type EmbeddedAdmin } from "./embedded/embedded-admin.ts";
export type { ErasureView } from "./erasure-schema.ts";
export type * from "./gap-schema.ts";
export type * from "./page-schemas.ts";
export { presentFailure, presentNotification, presentRecord } from "./present.ts";
export type * from "./problem-schemas.ts";
export type * from "./request-parameters.ts";
export type * from "./schemas.ts";
export type { SEARCH_QUERY } from "./search/search-routes.ts";
export type { BackgroundRounds, Installation } from "./settings/installation.ts";
export type {
  BackgroundName,
  BackgroundView,
  ChecksView,
  ConfigurationView,
  StorageView,
} from "./settings/settings-schemas.ts";
export type { SourceDetailsView } from "./source-details-schema.ts";
export type { SourceHealthView } from "./source-health-schema.ts";
export type { SourceHistoryView } from "./source-history-schema.ts";
