import type * as api from "../admin/index.ts";
import type { Requests } from "./request.ts";

export function settingsMethods({ request }: Requests) {
  return {
    /** Every variable and option with where its value comes from; no secret's value. */
    configuration: () => request<api.ConfigurationView>("GET", "configuration"),
    checks: {
      /** As the receiver ran them last. */
      last: () => request<api.ChecksView>("GET", "checks"),
      /** Checks as `oncehook doctor` does; it asks other services, and may take half a minute. */
      run: () => request<api.ChecksView>("POST", "checks"),
    },
    /** Rows and bytes by what they are, estimated, and how long they are kept. */
    storage: () => request<api.StorageView>("GET", "storage"),
    /** The work beside the callbacks, with its last and next round. */
    background: () => request<api.BackgroundView>("GET", "background"),
  };
}
