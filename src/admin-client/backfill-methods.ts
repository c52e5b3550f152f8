import type * as api from "../admin/index.ts";
import type { Requests } from "./request.ts";

/** A handler and the history that it gets. `per_second`: from 1 to 1000; 10 when left out. */
export interface BackfillParams {
  readonly handler: string;
  readonly event_type?: string | undefined;
  /** In ISO 8601 with its time zone. */
  readonly since: string;
  readonly include_former?: boolean | undefined;
  readonly per_second?: number | undefined;
}

export function backfillMethods({ request }: Requests) {
  return {
    backfills: {
      start: (body: BackfillParams) => request<api.BackfillView>("POST", "backfills", { body }),
      /** Counts events for ten seconds at most, and runs the first 20, which it rolls back. */
      preview: (body: BackfillParams) =>
        request<api.BackfillPreviewView>("POST", "backfills", { query: { dry_run: true }, body }),
      list: (query: api.InputOf<typeof api.PAGE_QUERY> = {}) =>
        request<api.PageOf<api.BackfillView>>("GET", "backfills", { query }),
      get: (id: number) => request<api.BackfillView>("GET", `backfills/${id}`),
      pause: (id: number) => request<api.BackfillView>("POST", `backfills/${id}/pause`),
      resume: (id: number) => request<api.BackfillView>("POST", `backfills/${id}/resume`),
      /** Ends it for good. Events that it has accepted run all the same. */
      cancel: (id: number) => request<api.BackfillView>("POST", `backfills/${id}/cancel`),
    },
  };
}
